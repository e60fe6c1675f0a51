"""Who there is that may answer: to say so, to tell them, and to know whether somebody is alone."""

from collections.abc import Collection

from django.contrib.auth.models import User
from django.db.models import QuerySet

from runs.queries.people import people_of

DECIDE = "approvals.decide"
ADMINISTER = "runs.administer"


def deciders(*, tenant_id: int, groups: Collection[str]) -> QuerySet[User]:
    """Active people of the tenant with the permission, of these groups where any are named."""
    people = User.objects.with_perm(DECIDE).filter(people_of(tenant_id))
    if groups:
        members = people.filter(groups__name__in=sorted(groups))
        # Administrators belong to every group, as for the door.
        above = people.filter(pk__in=User.objects.with_perm(ADMINISTER).values("pk"))
        people = (members | above).distinct()
    return people.order_by("pk")


def is_alone(*, tenant_id: int, groups: Collection[str], user_id: int | None) -> bool:
    """Whether nobody but this person may answer."""
    others = deciders(tenant_id=tenant_id, groups=groups).exclude(pk=user_id or 0)
    return not others.exists()
