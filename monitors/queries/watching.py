"""What the judge looks at: monitors as they stand, what was said of them last, and when nobody could see."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import OuterRef, QuerySet, Subquery

from monitors.models import Blindness, Monitor, VerdictChange
from monitors.rules.own import ITSELF
from monitors.rules.received import next_by_cron
from monitors.rules.states import MonitorKind, MonitorState, Verdict

# Nobody pings earlier than this before it is expected.
EARLY = timedelta(seconds=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A monitor as it was read; a judgement of it counts only if it still stands like this.

    `was_state` and `was_verdict` are those of the last change that the judge wrote: a ping moves the
    state by itself, and the judge says afterwards what that means.
    """

    id: int
    tenant_id: int
    kind: MonitorKind
    subject: str
    name: str
    state: str
    verdict: str
    verdict_since: datetime | None
    seq: int
    period: float | None
    cron: str
    zone: str
    grace: float
    longest: float | None
    progress_limit: float | None
    last_ping_at: datetime | None
    last_start_at: datetime | None
    expected_at: datetime | None
    alert_at: datetime | None
    paused_until: datetime | None
    paused_by: str
    removed: bool
    fence: int | None
    created_at: datetime
    was_state: str
    was_verdict: str
    was_breach: str

    @property
    def key(self) -> tuple[str, str]:
        return self.kind.value, self.subject

    @property
    def reported_failure(self) -> bool:
        """Its last word was that it failed: it is down by that, not by being absent."""
        return self.state == MonitorState.DOWN and self.expected_at is None

    @property
    def is_wrong(self) -> bool:
        """What was said of it last was that something is wrong."""
        down = self.was_state == MonitorState.DOWN
        return down or self.was_verdict in (Verdict.SLOW, Verdict.CUT_OFF, Verdict.SILENT)

    @property
    def was_paused_by_a_person(self) -> bool:
        return self.state == MonitorState.PAUSED and self.paused_by != ITSELF

    @property
    def began_and_did_not_end(self) -> bool:
        """It is due by its start, not by the end of its period."""
        if self.last_start_at is None or self.alert_at is None:
            return False
        return self.alert_at == self.last_start_at + self._longest

    def counted_after(self, blind_until: datetime) -> datetime | None:
        """When its absence counts, if nobody could see until then (R25).

        A ping that was due meanwhile may be lost, and the next one is a whole period away. Who was
        expected only afterwards has lost nothing: else a short gap would hide a daily job for a day.
        """
        if self.alert_at is None or self._is_expected_only_after(blind_until):
            return self.alert_at
        if self.last_start_at is not None and self.last_start_at > blind_until:
            return max(self.alert_at, self.last_start_at + self._longest)
        return max(self.alert_at, blind_until + self.allowed_from(blind_until))

    @property
    def _longest(self) -> timedelta:
        return timedelta(seconds=self.grace if self.longest is None else self.longest)

    def _is_expected_only_after(self, blind_until: datetime) -> bool:
        if self.alert_at is None or self.last_ping_at is None or self.last_start_at is not None:
            return False
        expected_at = self.alert_at - timedelta(seconds=self.grace)
        return expected_at > blind_until + EARLY

    def allowed_from(self, at: datetime) -> timedelta:
        """How long it may be absent, counted from `at`."""
        span = timedelta(seconds=self.period or 0)
        if self.cron:
            following = next_by_cron(self.cron, self.zone, after=at)
            span = following - at if following else span
        if self.last_start_at is not None:
            span = max(span, timedelta(seconds=self.longest or 0))
        return span + timedelta(seconds=self.grace)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """When nobody could see; one that lasts has no end."""

    from_at: datetime
    until_at: datetime | None
    because: str


def own() -> dict[tuple[str, str], Seen]:
    """Every monitor that Milepost made by itself and that is not put away."""
    rows = Monitor.objects.filter(removed_at=None).exclude(kind=MonitorKind.OUTSIDE.value)
    return {seen.key: seen for seen in map(_seen, _with_last_change(rows).order_by("pk"))}


def due(*, now: datetime, at_most: int) -> list[Seen]:
    """Monitors from outside whose moment has come, the longest overdue first.

    Those that somebody has just removed are among them: what is open about them has to end.
    """
    rows = Monitor.objects.filter(judge_at__lte=now, kind=MonitorKind.OUTSIDE.value)
    return [_seen(row) for row in _with_last_change(rows).order_by("judge_at", "pk")[:at_most]]


def again(monitor_id: int) -> Seen | None:
    """One monitor as it stands now."""
    row = _with_last_change(Monitor.objects.filter(pk=monitor_id)).first()
    return _seen(row) if row else None


def last_gap() -> Gap | None:
    """The newest time in which nobody could see, an open one before all others."""
    row = Blindness.objects.order_by("-open", "-until_at").first()
    if row is None:
        return None
    return Gap(from_at=row.from_at, until_at=row.until_at, because=row.because)


def gaps(*, since: datetime, at_most: int = 200) -> list[Gap]:
    """Those that ended after `since`, or last, the newest first."""
    rows = Blindness.objects.exclude(until_at__lt=since).order_by("-from_at")[:at_most]
    return [Gap(from_at=row.from_at, until_at=row.until_at, because=row.because) for row in rows]


def last_changes(monitor_ids: Sequence[int]) -> dict[int, VerdictChange]:
    """What was said last of each of these that was ever judged; by its index, however much was said."""
    last = VerdictChange.objects.filter(monitor=OuterRef("pk")).order_by("-seq").values("pk")[:1]
    found = Monitor.objects.filter(pk__in=monitor_ids).values_list(Subquery(last))
    rows = VerdictChange.objects.filter(pk__in=found).select_related("monitor")
    return {change.monitor_id: change for change in rows}


def _with_last_change(rows: QuerySet[Monitor]) -> QuerySet[Monitor]:
    last = VerdictChange.objects.filter(monitor=OuterRef("pk")).order_by("-seq")
    return rows.annotate(
        last_state=Subquery(last.values("state")[:1]),
        last_verdict=Subquery(last.values("verdict")[:1]),
        last_breach=Subquery(last.values("breach")[:1]),
    )


def _seen(row: Monitor) -> Seen:
    return Seen(
        id=row.pk,
        tenant_id=row.tenant_id,
        kind=MonitorKind(row.kind),
        subject=row.subject,
        name=str(row),
        state=row.state,
        verdict=row.verdict,
        verdict_since=row.verdict_since,
        seq=row.seq,
        period=row.period,
        cron=row.cron,
        zone=row.zone,
        grace=row.grace,
        longest=row.longest,
        progress_limit=row.progress_limit,
        last_ping_at=row.last_ping_at,
        last_start_at=row.last_start_at,
        expected_at=row.expected_at,
        alert_at=row.alert_at,
        paused_until=row.paused_until,
        paused_by=row.paused_by,
        removed=row.removed_at is not None,
        fence=row.fence,
        created_at=row.created_at,
        was_state=row.last_state or row.state,  # type: ignore[attr-defined]
        was_verdict=row.last_verdict or row.verdict,  # type: ignore[attr-defined]
        was_breach=row.last_breach or "",  # type: ignore[attr-defined]
    )
