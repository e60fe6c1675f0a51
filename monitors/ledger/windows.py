"""Maintenance windows are made and removed; a mute is one from now on, for one monitor."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from monitors.ledger import grouping, monitors
from monitors.models import Alert, Incident, MaintenanceWindow
from monitors.queries.muting import muted_until
from monitors.queries.visible import visible_monitors
from monitors.rules.incidents import IncidentState
from monitors.rules.windows import LONGEST_BECAUSE, WindowWish, open_until, refusals
from runs.ledger import audit, tenants
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.queries.visibility import visible_to
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.policy import Actor, Verb, require
from runs.rules.refusals import FieldErrors


class NoSuchWindow(Exception):
    """There is no such maintenance window, or this actor does not belong to its tenant."""


class WindowRefused(FieldErrors):
    """A window that would not work; `errors` has one sentence a field."""


@commits("window_committed")
def open_window(
    actor: Actor, wish: WindowWish, *, tenant: str = tenants.DEFAULT
) -> MaintenanceWindow:
    """Raises WindowRefused, NoSuchMonitor, NoSuchTenant, NotAllowed."""
    require(actor, Verb.OPERATE)
    if errors := refusals(wish):
        raise WindowRefused(errors)
    with transaction.atomic():
        owner, now = tenants.owner(actor, tenant, to="keep a maintenance window"), db_now()
        if wish.monitor_id is not None and (
            monitors.held(actor, wish.monitor_id).tenant_id != owner.pk
        ):
            raise monitors.NoSuchMonitor("There is no such monitor.")
        window = MaintenanceWindow.objects.create(
            tenant=owner, created_by=actor.name[:200], created_at=now, **asdict(wish)
        )
        _tell(window, "made", by=actor)
    return window


def mute(actor: Actor, monitor_id: int, *, until: datetime, because: str = "") -> MaintenanceWindow:
    """Nobody is called about it from now until then. Raises as `open_window` does."""
    require(actor, Verb.OPERATE)
    monitor = visible_monitors(actor).filter(pk=monitor_id).first()
    if monitor is None:
        raise monitors.NoSuchMonitor("There is no such monitor.")
    wish = WindowWish(
        because=because.strip() or f"muted by {actor.name}"[:LONGEST_BECAUSE],
        starts_at=db_now(),
        ends_at=until,
        monitor_id=monitor_id,
    )
    return open_window(actor, wish, tenant=monitor.tenant.slug)


def mute_tag(actor: Actor, tag: str, *, until: datetime, because: str = "") -> int:
    """The same for all that have this tag, also what gets it later; how many have it now.

    A tenant whose monitors have it gets a window of its own. Raises as `open_window` does.
    """
    require(actor, Verb.OPERATE)
    rows = visible_monitors(actor).filter(tags__contains=tag)
    tagged = [each for each in rows.select_related("tenant") if tag in each.tags.split()]
    if not tagged:
        raise monitors.NoSuchMonitor("No monitor has this tag.")
    said = because.strip() or f"muted by {actor.name}"[:LONGEST_BECAUSE]
    wish = WindowWish(because=said, starts_at=db_now(), ends_at=until, tag=tag)
    with transaction.atomic():
        for slug in sorted({each.tenant.slug for each in tagged}):
            open_window(actor, wish, tenant=slug)
    return len(tagged)


@commits("window_committed", when=bool)
def unmute(actor: Actor, monitor_id: int) -> int:
    """People are called about it again; how many windows of its own were open.

    Those of a tag or of the whole tenant are others' as well, and stay.
    """
    require(actor, Verb.OPERATE)
    if not visible_monitors(actor).filter(pk=monitor_id).exists():
        raise monitors.NoSuchMonitor("There is no such monitor.")
    with transaction.atomic():
        now = db_now()
        own = MaintenanceWindow.objects.filter(monitor_id=monitor_id, removed_at=None)
        found = [each.pk for each in own.order_by("pk") if open_until(each, at=now)]
        for window_id in found:
            # Whoever ended it meanwhile did the same.
            with suppress(NoSuchWindow):
                remove(actor, window_id)
    return len(found)


@commits("window_committed")
def remove(actor: Actor, window_id: int) -> MaintenanceWindow:
    """It is over now, also in its middle."""
    require(actor, Verb.OPERATE)
    with transaction.atomic():
        now = db_now()
        window = visible_to(actor, MaintenanceWindow.objects.all()).filter(pk=window_id).first()
        if window is None:
            raise NoSuchWindow("There is no such maintenance window.")
        tenants.hold(window.tenant_id)
        muted = [each for each in _untold(window.tenant_id, now) if muted_until(each, now=now)]
        living = MaintenanceWindow.objects.filter(pk=window_id, removed_at=None)
        if not living.update(removed_at=now):
            raise NoSuchWindow("There is no such maintenance window.")
        _tell(window, "removed", by=actor)
        _tell_of_now(muted, now)
        _look_again(window.tenant_id, now)
    return window


def _untold(tenant_id: int, now: datetime) -> QuerySet[Incident]:
    """What people will be told of later, in nobody's hands."""
    rows = Incident.objects.filter(tenant_id=tenant_id, state=IncidentState.OPEN.value)
    return rows.filter(tell_at__gt=now, snoozed_until=None)


def _tell_of_now(muted: Sequence[Incident], now: datetime) -> None:
    """What is still wrong was to be told when the window is over, and that is now."""
    for incident in muted:
        if muted_until(incident, now=now) is None:
            incident.tell_at = now
            grouping.save(incident)


def _look_again(tenant_id: int, now: datetime) -> None:
    """At what is new in somebody's hands and was left until a window ends: that may be now."""
    open_ = Alert.objects.filter(incident=OuterRef("pk"), closed_at=None)
    rows = Incident.objects.filter(
        Exists(open_), tenant_id=tenant_id, state=IncidentState.ACKNOWLEDGED.value
    )
    rows.filter(tell_at__gt=now, snoozed_until=None).update(tell_at=now)


def _tell(window: MaintenanceWindow, verb: str, *, by: Actor) -> None:
    body = canonical.dumps({"window": window.pk, "because": window.because, "tag": window.tag})
    event = Draft(kind=f"window.{verb}", body=body)
    audit.append_to_tenant(window.tenant_id, [event], now=db_now(), actor=by.name)
