"""A ping as a request brought it, and what the database answered."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from monitors.rules.filters import Filters, filters_from, kind_by_words, subject_of
from monitors.rules.pinging import Beat
from monitors.rules.states import PingKind
from runs.rules import canonical
from runs.rules.wall_clock import DstPolicy, due_by_cron

# How much of a body is kept, and how much of it is read so that the sender sees the answer.
BODY_KEPT = 10_000
BODY_READ = 16 * 1024 * 1024
# Pings kept of each monitor: a heartbeat every 30 s fills them in 8 hours.
PINGS_KEPT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A ping, with nothing in it that any database would refuse."""

    code: UUID | None
    kind: PingKind
    key_digest: str = ""
    slug: str = ""
    status: int | None = None
    rid: UUID | None = None
    beat: Beat | None = None
    sent_at: datetime | None = None
    method: str = "GET"
    scheme: str = "http"
    address: str = ""
    agent: str = ""
    subject: str = ""
    media_type: str = ""
    body: bytes = b""
    size: int = 0
    kept: int = PINGS_KEPT

    def kind_under(self, filters: Filters) -> PingKind:
        """Words are looked at where the address itself does not say what happened."""
        if not filters or self.kind is not PingKind.SUCCESS or self.status is not None:
            return self.kind
        subject = subject_of(self.body, media_type=self.media_type, header=self.subject)
        return kind_by_words(filters, subject=subject, body=self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a monitor's cron and words make of one ping, as of a revision and a time."""

    revision: int
    at: datetime
    kind: PingKind
    next_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`terms`: nothing was written, because cron or words have to be read first."""

    what: Literal["taken", "terms", "unknown", "ambiguous"]
    n: int | None = None
    at: datetime | None = None
    revision: int | None = None
    cron: str = ""
    zone: str = ""
    filters: str = ""
    tenant_id: int | None = None


def terms_of(
    received: Received, *, revision: int, at: datetime, cron: str, zone: str, filters: str
) -> Terms:
    return Terms(
        revision=revision,
        at=at,
        kind=received.kind_under(filters_from(canonical.loads(filters))),
        next_at=next_by_cron(cron, zone, after=at),
    )


def next_by_cron(cron: str, zone: str, *, after: datetime) -> datetime | None:
    if not cron:
        return None
    due = due_by_cron(cron, zone=ZoneInfo(zone), dst=DstPolicy.ONCE, after=after)
    first = next((each for each in due if each.fires), None)
    return first.at if first else None
