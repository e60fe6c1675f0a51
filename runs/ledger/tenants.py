"""Tenants come to be, and own what is made for them."""

from typing import cast

from runs.models import Tenant
from runs.rules.policy import Actor, may_see_tenant

DEFAULT = "default"


class NoSuchTenant(Exception):
    """There is no such tenant, or this actor does not belong to it."""


def owner(actor: Actor, slug: str, *, to: str) -> Tenant:
    """The tenant that will own what the actor wants `to` make. Raises NoSuchTenant."""
    found = Tenant.objects.filter(slug=slug).first()
    require_owner(actor, slug, found.pk if found else None, to=to)
    return cast("Tenant", found)


def require_owner(actor: Actor, slug: str, tenant_id: int | None, *, to: str) -> int:
    """The same, where the tenant's id was looked up already. Raises NoSuchTenant."""
    if tenant_id is None or not may_see_tenant(actor, tenant_id):
        raise NoSuchTenant(f"There is no tenant {slug!r} that {actor.name} may {to} for.")
    return tenant_id


def hold(tenant_id: int) -> None:
    """Lock the tenant's row until the caller's transaction ends: one at a time decides for it."""
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)


def keep_default(*, using: str) -> None:
    """The tenant that runs belong to where nobody says otherwise."""
    Tenant.objects.using(using).get_or_create(slug=DEFAULT, defaults={"name": "Default"})
