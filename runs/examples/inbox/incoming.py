"""What a reader hands on of each message, and what it says of an inbox that it cannot read."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

MOST_TEXT = 20_000


class UnreadableInbox(Exception):
    """The inbox itself is wrong; trying again will not help, a person must look at the place named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """One message: the bytes to keep and the parts that are judged."""

    sender: str
    subject: str
    text: str
    label: str
    digest: str
    raw: bytes | None = None
    file: str | None = None


def trouble(
    source: Path, what: str, *, line: int | None = None, byte: int | None = None
) -> UnreadableInbox:
    place = "".join(
        f", {name} {number}"
        for name, number in (("line", line), ("byte", byte))
        if number is not None
    )
    return UnreadableInbox(f"{source}{place}: {what}")


def cleaned(text: str) -> str:
    """Text that every database and canonical JSON accept: no NUL, no lone surrogates."""
    safe = text.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return safe.encode("utf-8", "replace").decode("utf-8")[:MOST_TEXT]


def digest_of(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8") if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()
