"""Ping keys: what one looks like, and how long an old one is still good."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta

from monitors.rules.addresses import KEY_LENGTH

HINT = 4
OVERLAP, LONGEST_OVERLAP = timedelta(days=7), timedelta(days=90)


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeKey:
    """The key is shown once; its digest and its beginning are all that is stored."""

    key: str
    digest: str
    hint: str


def make() -> MadeKey:
    key = secrets.token_urlsafe(16)
    if len(key) != KEY_LENGTH:
        raise AssertionError("16 bytes are 22 characters")
    return MadeKey(key=key, digest=digest_of(key), hint=key[:HINT])


def digest_of(key: str) -> str:
    """Plain, because a key of 128 random bits cannot be guessed from it."""
    return hashlib.sha256(key.encode()).hexdigest()
