"""Which tenants a person belongs to."""

from django.db.models import Q

from runs.models import Tenant

DEFAULT = "default"


def all_tenants() -> frozenset[int]:
    """Named one by one, so that lists of an administrator use the index that begins with them."""
    return frozenset(Tenant.objects.values_list("pk", flat=True))


def tenants_of(user_id: int) -> frozenset[int]:
    """Their tenants; whoever was put into none belongs to the default one."""
    theirs = Q(membership__user_id=user_id)
    rows = Tenant.objects.filter(theirs | Q(slug=DEFAULT)).values_list(
        "pk", "slug", "membership__user_id"
    )
    named = {pk for pk, _, member in rows if member == user_id}
    return frozenset(named or {pk for pk, slug, _ in rows if slug == DEFAULT})


def default_tenant_id() -> int | None:
    """Who owns what belongs to the installation itself; None before the tables are set up."""
    return Tenant.objects.filter(slug=DEFAULT).values_list("pk", flat=True).first()
