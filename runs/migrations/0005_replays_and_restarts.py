"""Replays as a record of their own, and runs that were begun in place of others."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0004_deadlines_and_locks"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="restart_of",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="restarts",
                to="runs.run",
            ),
        ),
        migrations.AddField(
            model_name="run",
            name="restart_from",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="automatic_restarts",
            field=models.PositiveSmallIntegerField(db_default=0),
        ),
        migrations.AddField(
            model_name="run",
            name="supersede_requested",
            field=models.BooleanField(db_default=False),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("restart_of__isnull", False)),
                fields=["restart_of"],
                name="run_by_what_it_restarts",
            ),
        ),
        migrations.CreateModel(
            name="Replay",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("generation", models.PositiveIntegerField()),
                ("checkpoint", models.PositiveIntegerField()),
                ("step", models.CharField(max_length=200)),
                ("ordinal", models.PositiveIntegerField()),
                ("cursor_ordinal", models.BigIntegerField(default=0)),
                ("forgets_judgements", models.BooleanField(default=False)),
                ("by", models.CharField(max_length=200)),
                ("because", models.TextField()),
                ("at", models.DateTimeField()),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="replays",
                        to="runs.run",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="runs.tenant",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "generation"), name="one_replay_per_generation"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("generation__gt", 1)),
                        name="replay_begins_a_later_generation",
                    ),
                ],
            },
        ),
    ]
