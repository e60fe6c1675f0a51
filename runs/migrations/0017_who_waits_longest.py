"""Open waits in the order in which they were opened: for the list of who waits longest."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0016_lighter_hot_tables"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="wait",
            index=models.Index(
                condition=models.Q(("state", "open")),
                fields=["opened_at", "run"],
                name="wait_longest",
            ),
        ),
    ]
