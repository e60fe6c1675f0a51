"""Which tenants a person belongs to."""

from runs.models import Membership, Tenant

DEFAULT = "default"


def tenants_of(user_id: int) -> frozenset[int]:
    """Their tenants; whoever was put into none belongs to the default one."""
    named = Membership.objects.filter(user_id=user_id).values_list("tenant_id", flat=True)
    return frozenset(named) or frozenset(
        Tenant.objects.filter(slug=DEFAULT).values_list("pk", flat=True)
    )
