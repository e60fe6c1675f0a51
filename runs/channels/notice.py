"""What is delivered, and what came of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from runs.rules.redaction import redact

SHOWN = 300
READ = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Title and link only; `id` is the same in every delivery."""

    id: str
    kind: str
    title: str
    link: str
    severity: str = "info"
    at: str = ""
    to: tuple[str, ...] = ()

    def for_people(self, addresses: Sequence[str]) -> "Notice":
        return replace(self, to=tuple(addresses))


class NotDelivered(Exception):
    """It did not arrive, and may be tried again; `answer` is what the receiver said."""

    def __init__(self, reason: str, *, answer: str = "", after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.answer = answer
        self.after = after


def shown(text: bytes | str, *, secrets: Iterable[str] = ()) -> str:
    """The beginning of what a receiver said, as text, without secrets and without what hides."""
    said = text.decode(errors="replace") if isinstance(text, bytes) else text
    safe = without(said, secrets=secrets)
    plain = "".join(c if c.isprintable() or c == "\n" else f"\\u{ord(c):04x}" for c in safe)
    return plain if len(plain) <= SHOWN else f"{plain[:SHOWN]}… (the first {SHOWN} characters)"


def without(text: str, *, secrets: Iterable[str]) -> str:
    """Without these secrets, and without what looks like one; the longest first, so that no rest stays."""
    known = sorted(set(secrets), key=len, reverse=True)
    return redact(text, secrets={f"{number}": value for number, value in enumerate(known)})
