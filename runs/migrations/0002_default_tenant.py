"""Make the tenant that runs belong to where nobody says otherwise."""

from django.db import migrations


def make_default(apps, schema_editor):
    Tenant = apps.get_model("runs", "Tenant")
    Tenant.objects.get_or_create(slug="default", defaults={"name": "Default"})


class Migration(migrations.Migration):
    dependencies = [("runs", "0001_initial")]
    operations = [migrations.RunPython(make_default, migrations.RunPython.noop)]
