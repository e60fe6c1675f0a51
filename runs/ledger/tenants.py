"""Tenants come to be."""

from runs.models import Tenant

DEFAULT = "default"


def keep_default(*, using: str) -> None:
    """The tenant that runs belong to where nobody says otherwise."""
    Tenant.objects.using(using).get_or_create(slug=DEFAULT, defaults={"name": "Default"})
