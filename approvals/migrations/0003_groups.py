"""Make the four groups that people's roles are: viewers, operators, approvers, administrators."""

from django.db import migrations

PERMISSIONS = {
    "operate": ("runs", "run", "May start, resume, pause and cancel runs"),
    "view_payloads": ("runs", "run", "May see inputs, facts, requests and answers in clear"),
    "administer": ("runs", "tenant", "May add people and give roles"),
    "decide": ("approvals", "decision", "May answer decisions"),
}
GROUPS = {
    "viewers": (),
    "operators": ("operate",),
    "approvers": ("decide", "view_payloads"),
    "administrators": ("operate", "decide", "view_payloads", "administer"),
}


def make_groups(apps, schema_editor):
    """Django makes permissions only after the last migration, so those named here are made now."""
    ContentType = apps.get_model("contenttypes", "ContentType")
    Permission = apps.get_model("auth", "Permission")
    Group = apps.get_model("auth", "Group")
    made = {}
    for codename, (app, model, name) in PERMISSIONS.items():
        kind, _ = ContentType.objects.get_or_create(app_label=app, model=model)
        made[codename], _ = Permission.objects.get_or_create(
            content_type=kind, codename=codename, defaults={"name": name}
        )
    for name, codenames in GROUPS.items():
        group, _ = Group.objects.get_or_create(name=name)
        group.permissions.add(*(made[codename] for codename in codenames))


class Migration(migrations.Migration):
    dependencies = [
        ("approvals", "0002_sights_askings_and_grounds"),
        ("runs", "0012_administer"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [migrations.RunPython(make_groups, migrations.RunPython.noop)]
