"""When and with which others a run was paused; waits that a resume asks anew."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0005_replays_and_restarts"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="paused_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="paused_with",
            field=models.UUIDField(null=True),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("paused_with__isnull", False)),
                fields=["paused_with"],
                name="run_paused_with_others",
            ),
        ),
        migrations.AddField(
            model_name="wait",
            name="superseded",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RemoveConstraint(
            model_name="wait",
            name="one_wait_per_name",
        ),
        migrations.AddConstraint(
            model_name="wait",
            constraint=models.UniqueConstraint(
                condition=models.Q(("superseded", False)),
                fields=("run", "step", "generation", "name"),
                name="one_wait_per_name",
            ),
        ),
    ]
