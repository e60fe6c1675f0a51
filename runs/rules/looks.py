"""How each state looks: one of six families, and the glyph that says it without colour."""

from dataclasses import dataclass
from typing import Literal

Family = Literal["ok", "active", "waiting", "decide", "failed", "idle"]


@dataclass(frozen=True, slots=True)
class Look:
    family: Family
    glyph: str

    @property
    def filled(self) -> bool:
        """Only what needs a person is filled, so that the eye lands there."""
        return self.family in ("decide", "failed")


OK = Look("ok", "ok")
ACTIVE = Look("active", "active")
WAITING = Look("waiting", "waiting")
DECIDE = Look("decide", "decide")
FAILED = Look("failed", "failed")
QUEUED = Look("idle", "queued")
PAUSED = Look("idle", "paused")
CANCELLED = Look("idle", "cancelled")
SUPERSEDED = Look("idle", "superseded")
SKIPPED = Look("idle", "skipped")
UNKNOWN = Look("idle", "unknown")

LOOKS: dict[str, Look] = {
    # runs and steps
    "queued": QUEUED,
    "pending": QUEUED,
    "running": ACTIVE,
    "waiting": WAITING,
    "paused": PAUSED,
    "failed": FAILED,
    "succeeded": OK,
    "cancelled": CANCELLED,
    "superseded": SUPERSEDED,
    "skipped": SKIPPED,
    # calls
    "intended": ACTIVE,
    "sent": ACTIVE,
    "confirmed": OK,
    "refused": Look("failed", "refused"),
    "ambiguous": Look("decide", "ambiguous"),
    "abandoned": CANCELLED,
    # waits and decisions
    "open": WAITING,
    "resolved": OK,
    "expired": CANCELLED,
    "withdrawn": CANCELLED,
    "approved": OK,
    "answered": OK,
    "rejected": Look("idle", "refused"),
    # assignments, workers, deliveries
    "placed": QUEUED,
    "claimed": ACTIVE,
    "released": SUPERSEDED,
    "live": ACTIVE,
    "working": ACTIVE,
    "idle": OK,
    "draining": WAITING,
    "stale": UNKNOWN,
    "ended": CANCELLED,
    "lost": FAILED,
    "delivered": OK,
    "held": Look("decide", "ambiguous"),
    "dead": CANCELLED,
    "stuck": FAILED,
    # events
    "used": OK,
    "kept": QUEUED,
    # monitors and verdicts
    "new": QUEUED,
    "up": OK,
    "late": WAITING,
    "down": FAILED,
    "alive": OK,
    "slow": WAITING,
    "cut_off": Look("failed", "cut"),
    "silent": Look("failed", "silent"),
    "blind": UNKNOWN,
    # alerts, incidents and how they were told
    "critical": FAILED,
    "warning": WAITING,
    "info": UNKNOWN,
    "acknowledged": ACTIVE,
    "snoozed": PAUSED,
    # channels
    "failing": WAITING,
    # schedules and their firings
    "on": OK,
    "overdue": FAILED,
    "started": OK,
    "replaced": OK,
    "missed": WAITING,
    # drills and what they struck
    "passed": OK,
    "aborted": CANCELLED,
    "survived": OK,
    "asked": DECIDE,
    "violated": FAILED,
    "unreached": SKIPPED,
    # decisions answered together
    "done": OK,
    "stopped": CANCELLED,
    # certificates and checks
    "pass": OK,
    "fail": FAILED,
    "unknown": UNKNOWN,
}

# What a run waits for, or what kind of decision is open, says more than the bare word.
LOOKS_BY_KIND: dict[str, Look] = {
    "decision": DECIDE,
    "approve": DECIDE,
    "reconcile": Look("decide", "ambiguous"),
    "resume": Look("decide", "fork"),
}


def look_of(state: str, *, kind: str = "") -> Look:
    """The look of a state; `kind` is what is waited for, or the kind of decision."""
    if state in ("waiting", "open") and kind in LOOKS_BY_KIND:
        return LOOKS_BY_KIND[kind]
    return LOOKS.get(state, UNKNOWN)
