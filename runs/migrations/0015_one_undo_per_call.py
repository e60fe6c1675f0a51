from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0014_notices_by_lane"),
    ]

    operations = [
        migrations.AddConstraint(
            model_name="call",
            constraint=models.UniqueConstraint(
                condition=models.Q(("undoes__isnull", False)),
                fields=("undoes",),
                name="one_undo_per_call",
            ),
        ),
    ]
