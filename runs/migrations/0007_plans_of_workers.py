"""Which plans a worker's code can execute, so that a run that no worker knows is noticed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0006_pauses_and_resumes")]

    operations = [
        migrations.AddField(
            model_name="worker",
            name="plans",
            field=models.JSONField(default=list),
        ),
    ]
