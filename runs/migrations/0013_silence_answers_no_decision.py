"""A decision whose wait would go on by itself is refused by the database (I13)."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0012_administer")]

    operations = [
        migrations.AddConstraint(
            model_name="wait",
            constraint=models.CheckConstraint(
                condition=~models.Q(kind="decision", on_due="resume"),
                name="silence_never_answers_a_decision",
            ),
        ),
    ]
