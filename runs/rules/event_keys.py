"""The keys of senders outside: what one looks like, and how often it may be used."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

PREFIX = "mpe"
TOKEN = re.compile(r"mpe_(?P<handle>[a-z0-9]{12})_(?P<secret>[A-Za-z0-9_-]{43})")
EVENT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,199}")
PER_WINDOW = 600
WINDOW = timedelta(minutes=1)
ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
NOTHING = hashlib.sha256(b"").hexdigest()


class BadEventName(ValueError):
    """No event can have this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A new key: the token is shown once, its digest is all that is stored."""

    handle: str
    token: str
    digest: str


def make() -> Made:
    handle = "".join(secrets.choice(ALPHABET) for _ in range(12))
    secret = secrets.token_urlsafe(32)
    return Made(handle=handle, token=f"{PREFIX}_{handle}_{secret}", digest=digest_of(secret))


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def handle_in(token: str) -> str:
    """Which key this is meant to be; empty for what is no key at all."""
    found = TOKEN.fullmatch(token)
    return found["handle"] if found else ""


def fits(token: str, digest: str) -> bool:
    """Compared in constant time, and also where no key of that handle is there (`digest` empty)."""
    found = TOKEN.fullmatch(token)
    made = digest_of(found["secret"] if found else "")
    return hmac.compare_digest(made, digest or NOTHING) and bool(found and digest)


def event_names(names: Sequence[str]) -> list[str]:
    """The names a key is for, checked; none means every event of its tenant."""
    for name in names:
        if not EVENT_NAME.fullmatch(name):
            raise BadEventName(
                f"{name!r} is no name of an event: letters, digits and . _ : - up to 200, beginning "
                "with a letter or digit."
            )
    return sorted(set(names))
