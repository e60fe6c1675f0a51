"""What an actor may see: every query over runs begins here."""

from typing import TypeVar

from django.db.models import Model, QuerySet

from runs.models import Run
from runs.rules.policy import Actor

Row = TypeVar("Row", bound=Model)


def visible_runs(actor: Actor) -> QuerySet[Run]:
    """The runs of the actor's tenants."""
    return visible_to(actor, Run.objects.all())


def visible_to(actor: Actor, rows: QuerySet[Row], *, through: str = "tenant_id") -> QuerySet[Row]:
    """Only those of `rows` whose tenant, found `through` this path, the actor belongs to."""
    if actor.tenants is None:
        return rows
    return rows.filter(**{f"{through}__in": sorted(actor.tenants)})
