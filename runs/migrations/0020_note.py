from django.db import migrations, models
from django.db.models import PROTECT


class Migration(migrations.Migration):
    dependencies = [("runs", "0019_drills_under_way")]

    operations = [
        migrations.CreateModel(
            name="Note",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("text", models.TextField()),
                ("by", models.CharField(max_length=200)),
                ("at", models.DateTimeField()),
                ("withdrawn_at", models.DateTimeField(null=True)),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False, on_delete=PROTECT, related_name="notes", to="runs.run"
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(db_index=False, on_delete=PROTECT, to="runs.tenant"),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["run", "-id"], name="note_of_run")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("text", ""), _negated=True), name="note_says_something"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("withdrawn_at__isnull", True),
                            ("withdrawn_at__gte", models.F("at")),
                            _connector="OR",
                        ),
                        name="note_is_withdrawn_after_it_was_written",
                    ),
                ],
            },
        ),
    ]
