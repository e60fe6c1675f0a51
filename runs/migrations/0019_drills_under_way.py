"""Drills that have no report yet, so that pages show them and people stop them."""

import django.db.models.deletion
from django.db import migrations, models

import runs.models.drill


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0018_selections"),
    ]

    operations = [
        migrations.CreateModel(
            name="DrillUnderWay",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=runs.models.drill.new_drill_id,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("workflow", models.CharField(max_length=100)),
                ("command", models.CharField(max_length=500)),
                ("from_page", models.BooleanField(default=False)),
                ("started_by", models.CharField(max_length=200)),
                ("started_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
                ("stopped_by", models.CharField(blank=True, default="", max_length=200)),
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
                        condition=models.Q(("from_page", True)),
                        fields=("from_page",),
                        name="one_drill_from_a_page_at_a_time",
                    )
                ],
            },
        ),
    ]
