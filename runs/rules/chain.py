"""How audit events are chained: what exactly each hash covers."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol

from runs.rules import redaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An audit event before it has its place: `body` is canonical JSON text, without secrets."""

    kind: str
    body: str = "{}"
    step: str = ""

    def __post_init__(self) -> None:
        safe = redaction.shown_text(self.body)
        if safe is not self.body:
            object.__setattr__(self, "body", safe)


def new_salt() -> str:
    """Keeps an erased body from being guessed back from its digest (R37)."""
    return secrets.token_hex(8)


def payload_digest(*, salt: str, body: str) -> str:
    return hashlib.sha256((salt + body).encode()).hexdigest()


@lru_cache(maxsize=8)
def instant(at: datetime) -> str:
    """Microseconds, always six digits, UTC: the form that PostgreSQL makes too.

    The events of one commit share theirs.
    """
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def link(
    *, prev: str, seq: int, at: datetime, kind: str, step: str, fence: int, actor: str, payload: str
) -> str:
    """The hash of one event, over its place, its facts and the event before it."""
    parts = (prev, str(seq), instant(at), kind, step, str(fence), actor, payload)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


class Linked(Protocol):
    """An event in its place, as it is stored."""

    seq: int
    at: datetime
    kind: str
    step: str
    fence: int
    actor: str
    body: str
    salt: str
    payload_digest: str
    prev: str
    hash: str


def fault_of(event: Linked, *, prev: str, place: int) -> str:
    """Why this event does not follow the one before it; empty when it does."""
    if event.seq != place:
        return f"event {place} is missing: the next one there is {event.seq}"
    if event.prev != prev:
        return f"event {place} ({event.kind}) names another event before it than the one there"
    # An erased body leaves its digest behind, so that the chain still verifies (R37).
    if event.body and payload_digest(salt=event.salt, body=event.body) != event.payload_digest:
        return f"the body of event {place} ({event.kind}) is not what its digest covers"
    if event.hash != link(
        prev=prev,
        seq=event.seq,
        at=event.at,
        kind=event.kind,
        step=event.step,
        fence=event.fence,
        actor=event.actor,
        payload=event.payload_digest,
    ):
        return f"event {place} ({event.kind}) is not what its hash covers"
    return ""
