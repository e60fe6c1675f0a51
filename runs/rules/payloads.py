"""What is shown of a payload: its first part, how much that is, or that it is hidden."""

import json
from dataclasses import dataclass

SHOWN = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """`shown` is what a reader gets to see of `size` bytes; a cut is always said."""

    shown: str
    size: int
    digest: str = ""
    hidden: bool = False
    shown_size: int = 0

    @property
    def cut(self) -> bool:
        return not self.hidden and self.shown_size < self.size


def payload_of(text: str, *, visible: bool, digest: str = "", most: int = SHOWN) -> Payload:
    """JSON text made readable and cut; nothing of it for whoever may not see payloads."""
    size = len(text.encode())
    if not visible:
        return Payload(shown="", size=size, digest=digest, hidden=True)
    pretty = _pretty(text) if size <= most * 4 else text
    if len(pretty) <= most:
        return Payload(shown=pretty, size=size, digest=digest, shown_size=size)
    cut = pretty[:most]
    return Payload(shown=cut, size=size, digest=digest, shown_size=min(len(cut.encode()), size - 1))


def _pretty(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text
