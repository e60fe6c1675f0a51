"""What an actor may see of monitors and incidents: another tenant's are not there."""

from django.db.models import QuerySet

from monitors.models import Incident, Monitor
from runs.queries.visibility import visible_to
from runs.rules.policy import Actor


def visible_monitors(actor: Actor) -> QuerySet[Monitor]:
    """Those that were not removed, of the actor's tenants."""
    return visible_to(actor, Monitor.objects.filter(removed_at=None)).select_related("tenant")


def visible_incidents(actor: Actor) -> QuerySet[Incident]:
    return visible_to(actor, Incident.objects.all())
