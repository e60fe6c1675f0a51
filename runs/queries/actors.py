"""A person as policy knows them: by a page, by a command, or by what they ordered and have left."""

from django.contrib.auth.models import User

from runs.queries.memberships import all_tenants, tenants_of
from runs.rules.policy import Actor, Verb

PERMISSIONS = {
    Verb.OPERATE: "runs.operate",
    Verb.DECIDE: "approvals.decide",
    Verb.VIEW_PAYLOADS: "runs.view_payloads",
    Verb.ADMINISTER: "runs.administer",
}


def actor_for(user: User) -> Actor:
    """With the rights that they have now, whichever door they came through."""
    return Actor(
        kind="user",
        name=user.get_username(),
        user_id=user.pk,
        tenants=all_tenants() if user.is_superuser else tenants_of(user.pk),
        permissions=frozenset(
            verb.value for verb, name in PERMISSIONS.items() if user.has_perm(name)
        ),
        groups=frozenset(user.groups.values_list("name", flat=True)),
        administrator=user.has_perm(PERMISSIONS[Verb.ADMINISTER]),
    )


def actor_numbered(user_id: int | None) -> Actor | None:
    """Who has that account; nobody where it is gone, or may not come in any more."""
    user = User.objects.filter(pk=user_id, is_active=True).first() if user_id else None
    return actor_for(user) if user else None
