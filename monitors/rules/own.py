"""Monitors that Milepost makes by itself: of whom, under which address, and within which limits."""

import hashlib
import hmac
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from monitors.rules.states import MonitorKind

CODE_IS_FOR = b"milepost monitors of its own, first form"
ITSELF = "Milepost itself"
WATCH, CLUSTER = "watch", "cluster"
# Watch pings itself this often: no silence of others is believed before one of its own came through.
PULSE_EVERY = timedelta(seconds=1)
GRACES = 3
# The pages take no pings any more when none came through for this long, or for one beat.
WEB_AWAY_AFTER = timedelta(seconds=3)
PLACES = {
    MonitorKind.RUN: "/runs/{subject}/",
    MonitorKind.WORKER: "/workers/",
    MonitorKind.SCHEDULE: "/schedules/{subject}/",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """One of them; durations are seconds, `worker` and `workflow` what it shares with others."""

    kind: MonitorKind
    subject: str
    tenant_id: int
    name: str
    period: float | None
    grace: float
    progress_limit: float | None = None
    late_start: float | None = None
    longest: float | None = None
    workflow: str = ""
    worker: str = ""
    fence: int | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.kind.value, self.subject


def code_of(kind: str, subject: str, *, secret: str) -> UUID:
    """Where it is pinged: made from the secret, so that knowing a run's id is not enough."""
    key = hmac.new(secret.encode(), CODE_IS_FOR, hashlib.sha256).digest()
    made = hmac.new(key, f"{kind}:{subject}".encode(), hashlib.sha256).digest()
    return UUID(bytes=made[:16])


def of_a_process(kind: MonitorKind, subject: str, name: str, *, tenant_id: int, beat: float) -> Own:
    """A worker, the cluster: they beat as often as the settings say."""
    return Own(
        kind=kind,
        subject=subject,
        tenant_id=tenant_id,
        name=name,
        period=beat,
        grace=beat * GRACES,
        worker=subject if kind is MonitorKind.WORKER else "",
        fence=0 if kind is MonitorKind.WORKER else None,
    )


def web_away_after(beat: timedelta) -> timedelta:
    return max(WEB_AWAY_AFTER, beat)
