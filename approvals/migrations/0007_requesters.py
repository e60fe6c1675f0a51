"""Keep who else, besides its starter, has made a run what it is when a decision is opened."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("approvals", "0006_records")]

    operations = [
        migrations.CreateModel(
            name="Requester",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("did", models.TextField()),
                (
                    "decision",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="requesters",
                        to="approvals.decision",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["decision"], name="requester_by_decision")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("name", "decision"), name="one_requester_per_name_and_decision"
                    )
                ],
            },
        ),
    ]
