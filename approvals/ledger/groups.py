"""The groups that roles are, kept where a flush took them away."""

from typing import Any

from django.contrib.auth.models import Group, Permission
from django.db import connections

from runs.rules.roles import ROLES, Role


def keep(using: str, **_more: Any) -> None:
    """Make those that are missing; what an administrator made of one that is there stays.

    The migration made them first; a flush, after which Django calls the same signal, empties them.
    """
    if Group._meta.db_table not in connections[using].introspection.table_names():
        return
    there = set(Group.objects.using(using).values_list("name", flat=True))
    missing = [role for role in ROLES if role.group not in there]
    if missing:
        _make(missing, using=using)


def _make(roles: list[Role], *, using: str) -> None:
    made = Group.objects.using(using).bulk_create(Group(name=role.group) for role in roles)
    ours = Permission.objects.using(using).filter(content_type__app_label__in=("runs", "approvals"))
    ids = dict(ours.values_list("codename", "pk"))
    through = Group.permissions.through
    through.objects.using(using).bulk_create(
        through(group_id=group.pk, permission_id=ids[verb.value])
        for group, role in zip(made, roles, strict=True)
        for verb in role.verbs
        if verb.value in ids
    )
