"""A run's own deadline, and the advisory lock that says that a worker of another host lives."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0003_drill"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="deadline",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="worker",
            name="lock_key",
            field=models.BigIntegerField(null=True),
        ),
    ]
