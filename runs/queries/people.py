"""Which users belong to a tenant."""

from django.db.models import Q

from runs.models import Membership, Tenant
from runs.queries.memberships import DEFAULT


def people_of(tenant_id: int) -> Q:
    """A condition on users; administrators belong everywhere, others without a tenant to the default."""
    named = Q(pk__in=Membership.objects.filter(tenant_id=tenant_id).values("user_id"))
    if Tenant.objects.filter(pk=tenant_id, slug=DEFAULT).exists():
        named |= ~Q(pk__in=Membership.objects.values("user_id"))
    return named | Q(is_superuser=True)
