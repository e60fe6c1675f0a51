"""What is shown of a payload: its first part, how much that is, or that it is hidden."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from runs.rules import redaction

SHOWN = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """`shown` is what a reader gets to see of `size` bytes; a cut is always said.

    `redacted` names the places where something was taken out; the digest is over the real bytes.
    """

    shown: str
    size: int
    digest: str = ""
    hidden: bool = False
    shown_size: int = 0
    redacted: tuple[str, ...] = ()

    @property
    def cut(self) -> bool:
        return not self.hidden and self.shown_size < self.size


def payload_of(
    text: str,
    *,
    visible: bool,
    digest: str = "",
    most: int = SHOWN,
    paths: Sequence[str] = (),
) -> Payload:
    """JSON text made readable, redacted and cut; nothing of it for whoever may not see payloads."""
    size = len(text.encode())
    if not visible:
        return Payload(shown="", size=size, digest=digest, hidden=True)
    pretty, redacted = _readable(text, paths)
    if len(pretty) <= most:
        return Payload(shown=pretty, size=size, digest=digest, shown_size=size, redacted=redacted)
    cut = pretty[:most]
    return Payload(
        shown=cut,
        size=size,
        digest=digest,
        shown_size=min(len(cut.encode()), size - 1),
        redacted=redacted,
    )


def _readable(text: str, paths: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    try:
        found = redaction.shown(json.loads(text), paths=paths)
    except ValueError:
        return redaction.redact(text, secrets={}), ()
    return json.dumps(found.value, indent=2, ensure_ascii=False), found.hidden
