"""Which maintenance windows there are, and which one a monitor stands in."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Q, QuerySet

from monitors.models import MaintenanceWindow, Monitor
from monitors.rules.windows import is_for, open_until
from runs.queries.visibility import visible_to
from runs.rules.policy import Actor


def visible_windows(actor: Actor) -> QuerySet[MaintenanceWindow]:
    """Those that were not removed, of the actor's tenants, the latest first."""
    rows = MaintenanceWindow.objects.filter(removed_at=None).select_related("monitor")
    return visible_to(actor, rows).order_by("-starts_at", "-pk")


def maintained_until(monitors: Sequence[Monitor], *, now: datetime) -> dict[int, datetime]:
    """Of those that stand in a window now: until when. One statement for all of them."""
    tenants = {monitor.tenant_id for monitor in monitors}
    begun = Q(removed_at=None, starts_at__lte=now) & (Q(ends_at=None) | Q(ends_at__gt=now))
    windows = list(MaintenanceWindow.objects.filter(begun, tenant_id__in=tenants))
    found: dict[int, datetime] = {}
    for window in windows:
        until = open_until(window, at=now)
        if until is None:
            continue
        for monitor in monitors:
            mine = window.tenant_id == monitor.tenant_id and is_for(
                window, monitor_id=monitor.pk, tags=monitor.tags.split()
            )
            if mine:
                found[monitor.pk] = max(found.get(monitor.pk, until), until)
    return found
