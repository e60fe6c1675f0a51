"""How audit events are chained: what exactly each hash covers."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An audit event before it has its place: `body` is canonical JSON text."""

    kind: str
    body: str = "{}"
    step: str = ""


def new_salt() -> str:
    """Keeps an erased body from being guessed back from its digest (R37)."""
    return secrets.token_hex(8)


def payload_digest(*, salt: str, body: str) -> str:
    return hashlib.sha256((salt + body).encode()).hexdigest()


def instant(at: datetime) -> str:
    """Microseconds, always six digits, UTC: the form that PostgreSQL makes too."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def link(
    *, prev: str, seq: int, at: datetime, kind: str, step: str, fence: int, actor: str, payload: str
) -> str:
    """The hash of one event, over its place, its facts and the event before it."""
    parts = (prev, str(seq), instant(at), kind, step, str(fence), actor, payload)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
