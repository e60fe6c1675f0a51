"""What a worker says when it says "I live": to whom, under which number, and how that is believed."""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from runs.rules import canonical

PATH = "/beats/"
SIGNATURE = "X-Milepost-Signature"
KEY_IS_FOR = b"milepost beats, first form"
MOST_AT_ONCE = 100
LARGEST = 64 * 1024
KINDS = ("run", "worker", "watch")
# What a number in canonical JSON may be, and longer ago than anybody keeps a beat back.
HIGHEST = 2**53 - 1
LONGEST_AGO = 7 * 86_400.0


class UnusableBeats(ValueError):
    """What was said is no list of beats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """`age` is how many seconds ago it was meant to be heard: clocks of machines need not agree.

    (`fence`, `number`) of one subject only rise: whatever is not above the last one is no news (I3).
    """

    kind: str
    subject: str
    fence: int
    number: int
    age: float = 0.0


def key_of(secret: str) -> bytes:
    """Made from the installation's secret each time, so that it is stored nowhere."""
    return hmac.new(secret.encode(), KEY_IS_FOR, hashlib.sha256).digest()


def signature_of(body: bytes, *, secret: str) -> str:
    return hmac.new(key_of(secret), body, hashlib.sha256).hexdigest()


def is_signed(body: bytes, signature: str, *, secret: str) -> bool:
    told = signature.encode("utf-8", "replace")
    return hmac.compare_digest(signature_of(body, secret=secret).encode(), told)


def said(beats: Iterable[Beat]) -> bytes:
    """The body of a request."""
    rows = [
        {
            "kind": beat.kind,
            "subject": beat.subject,
            "fence": beat.fence,
            "number": beat.number,
            "age": round(beat.age, 3),
        }
        for beat in beats
    ]
    return canonical.dumps({"beats": rows}).encode()


def heard(body: bytes) -> list[Beat]:
    """What `said` wrote; raises UnusableBeats."""
    try:
        rows = canonical.loads(body.decode())["beats"]
        if len(rows) > MOST_AT_ONCE:
            raise UnusableBeats(f"At most {MOST_AT_ONCE} beats at once.")
        return [_beat(row) for row in rows]
    except (ValueError, KeyError, TypeError) as error:
        raise UnusableBeats(f"This is no list of beats: {error}") from error


def _beat(row: Mapping[str, Any]) -> Beat:
    kind, subject = row["kind"], row["subject"]
    if kind not in KINDS:
        raise UnusableBeats(f"Nothing of kind {kind!r} beats.")
    if kind != "watch":
        subject = str(UUID(subject))
    return Beat(
        kind=kind,
        subject=str(subject)[:100],
        fence=_whole(row["fence"]),
        number=_whole(row["number"]),
        age=min(max(float(row["age"]), 0.0), LONGEST_AGO),
    )


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= HIGHEST:
        raise UnusableBeats(f"{value!r} is no whole number.")
    return value
