"""Let people be administrators of a tenant."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("runs", "0011_channels")]
    operations = [
        migrations.AlterModelOptions(
            name="tenant",
            options={"permissions": [("administer", "May add people and give roles")]},
        )
    ]
