"""Which users belong to a tenant, and where those who are to be told get mail."""

from collections.abc import Collection

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from runs.models import Membership, Tenant
from runs.queries.memberships import DEFAULT

MOST_MAILED = 50
MAY_ACT = ("approvals.decide", "runs.operate")


def people_of(tenant_id: int) -> Q:
    """A condition on users; administrators belong everywhere, others without a tenant to the default."""
    named = Q(pk__in=Membership.objects.filter(tenant_id=tenant_id).values("user_id"))
    if Tenant.objects.filter(pk=tenant_id, slug=DEFAULT).exists():
        named |= ~Q(pk__in=Membership.objects.values("user_id"))
    return named | Q(is_superuser=True)


def to_be_told(
    *, tenant_id: int, groups: Collection[str] = (), users: Collection[int] = ()
) -> QuerySet[User]:
    """Active people of the tenant: those named; where none is, all who may decide or operate."""
    people = User.objects.filter(people_of(tenant_id), is_active=True)
    if groups or users:
        named = Q(groups__name__in=sorted(groups)) | Q(pk__in=list(users))
        return people.filter(named).distinct().order_by("pk")
    may = Q()
    for permission in MAY_ACT:
        may |= Q(pk__in=User.objects.with_perm(permission).values("pk"))
    return people.filter(may).order_by("pk")


def addresses(
    *,
    tenant_id: int,
    groups: Collection[str] = (),
    users: Collection[int] = (),
    most: int = MOST_MAILED,
) -> list[str]:
    """Their mail addresses."""
    people = to_be_told(tenant_id=tenant_id, groups=groups, users=users).exclude(email="")
    return list(people.values_list("email", flat=True)[:most])
