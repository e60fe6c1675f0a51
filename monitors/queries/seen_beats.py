"""What was seen of monitors over a stretch of time: their beats, and from when until when they were what."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Max, Q

from monitors.models import Blindness, Monitor, Ping, VerdictChange
from monitors.rules.beats import Spell
from monitors.rules.states import MonitorState, PingKind, Verdict

MOST_CHANGES = 5000
MOST_BLIND = 500
# What was kept back on its way was a sign of life when it was sent; what is alien or old was none.
COUNTED = ("", "late")
STILL = (MonitorState.LATE.value, MonitorState.PAUSED.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """`beats` in rising order, no further back than the newest few."""

    beats: Sequence[datetime]
    spells: Sequence[Spell]


def seen_of(
    monitors: Sequence[Monitor], *, since: datetime, now: datetime, newest: int
) -> Mapping[int, Seen]:
    """Three statements for all of them together."""
    beats = _beats(monitors, newest=newest)
    changes = _changes(monitors, since=since)
    blind = _blind(since)
    return {
        each.pk: Seen(
            beats=beats[each.pk],
            spells=[*spells_of(each, changes[each.pk], now=now), *blind],
        )
        for each in monitors
    }


def _beats(monitors: Sequence[Monitor], *, newest: int) -> Mapping[int, list[datetime]]:
    rows = Ping.objects.filter(
        monitor__in=[each.pk for each in monitors],
        kind=PingKind.SUCCESS.value,
        suspicious__in=COUNTED,
        n__gt=F("monitor__n_pings") - newest,
    )
    found: dict[int, list[datetime]] = defaultdict(list)
    for monitor_id, at, sent_at in rows.order_by("n").values_list("monitor_id", "at", "sent_at"):
        found[monitor_id].append(sent_at or at)
    return defaultdict(list, {pk: sorted(times) for pk, times in found.items()})


def _changes(
    monitors: Sequence[Monitor], *, since: datetime
) -> Mapping[int, Sequence[VerdictChange]]:
    """Those since then, and the last one before, which says how it began."""
    ids = [each.pk for each in monitors]
    rows = VerdictChange.objects.filter(monitor__in=ids)
    before = rows.filter(at__lt=since).values("monitor").annotate(last=Max("seq"))
    first = Q(pk__in=[])
    for row in before:
        first |= Q(monitor=row["monitor"], seq=row["last"])
    found: dict[int, list[VerdictChange]] = defaultdict(list)
    for change in rows.filter(Q(at__gte=since) | first).order_by("-at", "-seq")[:MOST_CHANGES]:
        found[change.monitor_id].insert(0, change)
    return found


def _blind(since: datetime) -> list[Spell]:
    rows = Blindness.objects.filter(Q(until_at=None) | Q(until_at__gte=since))
    return [
        Spell(start=each.from_at, end=each.until_at, state="blind")
        for each in rows.order_by("-from_at")[:MOST_BLIND]
    ]


def spells_of(monitor: Monitor, changes: Sequence[VerdictChange], *, now: datetime) -> list[Spell]:
    """One after another, the last one until now; what was before the first change is what it left."""
    marks = [(change.since, _word(change.state, change.verdict)) for change in changes]
    first = changes[0].was_state if changes else monitor.state
    if first in (MonitorState.UP.value, MonitorState.LATE.value):
        marks.insert(0, (monitor.created_at, "up"))
    if monitor.state in STILL:
        marks.append((monitor.state_since, monitor.state))
    ends = [*(at for at, _ in marks[1:]), now] if marks else []
    return [
        Spell(start=start, end=end, state=word)
        for (start, word), end in zip(marks, ends, strict=True)
        if word and end > start
    ]


def _word(state: str, verdict: str) -> str:
    if state == MonitorState.NEW.value:
        return ""
    if state == MonitorState.UP.value and verdict == Verdict.SLOW.value:
        return "slow"
    return state
