import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0007_plans_of_workers"),
    ]

    operations = [
        migrations.CreateModel(
            name="Certificate",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("workflow", models.CharField(max_length=100)),
                ("version", models.PositiveIntegerField()),
                ("plan_hash", models.CharField(max_length=64)),
                ("passed", models.PositiveSmallIntegerField()),
                ("asked", models.PositiveSmallIntegerField()),
                ("made_by", models.CharField(max_length=200)),
                ("made_at", models.DateTimeField()),
                ("body", models.TextField()),
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
                "indexes": [
                    models.Index(
                        fields=["workflow", "version", "-made_at", "-id"],
                        name="certificate_newest",
                    )
                ],
            },
        ),
    ]
