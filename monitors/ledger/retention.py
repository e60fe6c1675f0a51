"""What of monitors is over for long enough is taken away, a batch in one transaction with its record (R37)."""

from collections.abc import Callable, Collection
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from monitors.models import Alert, Incident, MaintenanceWindow, Monitor, Ping, VerdictChange
from monitors.queries import outlived
from monitors.rules.incidents import key_of
from runs.ledger import clearing, outbox, tenants
from runs.ledger.commits import commits
from runs.queries.memberships import default_tenant_id

# Rows that nothing hangs on go by more at once.
SMALL = 10
Rows = Callable[[datetime], QuerySet[Any]]


@commits("cleaned_up", when=bool)
def incidents(before: datetime, at_most: int, by: str) -> int:
    """With their alerts, the names they were found by, and the messages that told of them."""
    return _batch(outlived.incidents, before, at_most, by, _remove_incidents)


def _remove_incidents(ids: Collection[int]) -> None:
    for incident_id in ids:
        outbox.forget_settled(key_of(incident_id))
    Incident.objects.filter(pk__in=ids).delete()


@commits("cleaned_up", when=bool)
def verdicts(before: datetime, at_most: int, by: str) -> int:
    """What was said before the last thing that still counts then."""
    remove = _delete(VerdictChange)
    return _batch(outlived.verdicts, before, at_most * SMALL, by, remove, of="monitor__")


@commits("cleaned_up", when=bool)
def monitors(before: datetime, at_most: int, by: str) -> int:
    """With what came in from them; alerts of theirs stay as long as their incident does."""
    return _batch(outlived.monitors, before, at_most, by, _remove_monitors)


def _remove_monitors(ids: Collection[int]) -> None:
    # Each by itself: the rows of a thousand pings are not to be read before they go.
    Ping.objects.filter(monitor__in=ids).delete()
    VerdictChange.objects.filter(monitor__in=ids).delete()
    Alert.objects.filter(monitor__in=ids).update(monitor=None, link="")
    Monitor.objects.filter(pk__in=ids).delete()


@commits("cleaned_up", when=bool)
def windows(before: datetime, at_most: int, by: str) -> int:
    return _batch(outlived.windows, before, at_most, by, _delete(MaintenanceWindow))


@commits("cleaned_up", when=bool)
def blindness(before: datetime, at_most: int, by: str) -> int:
    """Of no tenant; the record is in the default one's chain. Its notices go with it."""
    with transaction.atomic():
        tenant_id = default_tenant_id()
        found = list(outlived.blindness(before)[:at_most])
        if not found or tenant_id is None:
            return 0
        tenants.hold(tenant_id)
        for each in found:
            outbox.forget_settled(f"blind:{each.from_at.isoformat()}")
            each.delete()
        clearing.record(tenant_id, "blindness", len(found), before=before, by=by)
    return len(found)


def _delete(model: Any) -> Callable[[Collection[int]], None]:
    def delete(ids: Collection[int]) -> None:
        model.objects.filter(pk__in=ids).delete()

    return delete


def _batch(
    rows: Rows,
    before: datetime,
    at_most: int,
    by: str,
    remove: Callable[[Collection[int]], None],
    *,
    of: str = "",
) -> int:
    """The oldest of one tenant; whoever took one out again since it was read keeps it."""
    with transaction.atomic():
        tenant_id = rows(before).values_list(f"{of}tenant", flat=True).first()
        if tenant_id is None:
            return 0
        tenants.hold(tenant_id)
        mine = rows(before).filter(**{f"{of}tenant": tenant_id})
        locked = mine.select_for_update(no_key=True, of=("self",)).only("pk")[:at_most]
        ids = [row.pk for row in locked]
        remove(ids)
        clearing.record(tenant_id, rows.__name__, len(ids), before=before, by=by)
    return len(ids)


def count(rows: Rows, before: datetime) -> int:
    return rows(before).count()


PARTS = {
    "closed incidents": (partial(count, outlived.incidents), incidents),
    "verdicts before the last": (partial(count, outlived.verdicts), verdicts),
    "monitors that were put away": (partial(count, outlived.monitors), monitors),
    "times of blindness": (partial(count, outlived.blindness), blindness),
    "windows that are over": (partial(count, outlived.windows), windows),
}
