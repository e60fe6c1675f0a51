"""Whether a call names a text, as a reader of its page would say: by what is shown, not by stored bytes."""

from collections.abc import Iterator
from typing import Any

from approvals.rules.columns import said
from approvals.rules.unseen import pieces_of
from runs.rules import canonical
from runs.rules.redaction import HIDDEN

# What such a character is shown as begins with this.
NAMED = "u+"
JOINED = ";"
# What only the page has of some value, so that the stored text need not hold it.
ONLY_SHOWN = (NAMED, JOINED, "[", "]", "\x00")


def names(text: str, *, resource: str, request: Any, evidence: Any) -> bool:
    """Request and evidence are given as they may be shown; small and capital letters are the same."""
    wanted = text.lower()
    return any(wanted in each.lower() for each in _shown(wanted, resource, request, evidence))


def _shown(wanted: str, resource: str, request: Any, evidence: Any) -> Iterator[str]:
    cells = evidence.values() if isinstance(evidence, dict) else (evidence,)
    for text in (resource, *_texts(request), *_texts(evidence), said(request), *map(said, cells)):
        yield text
        if NAMED in wanted:
            yield "".join(piece.text for piece in pieces_of(text))


def _texts(value: Any) -> Iterator[str]:
    """Names and texts within a value, without the signs that JSON writes for some characters."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def stored_forms(text: str) -> tuple[str, ...]:
    """What the stored text of a call that names it holds, one of them; none: any call may.

    Databases compare letters beyond ASCII each in its own way, so only the rest is asked for.
    """
    small = text.lower()
    if small in HIDDEN or any(sign in small for sign in ONLY_SHOWN):
        return ()
    forms = {text, canonical.dumps(text)[1:-1]}
    if not text.isascii():
        forms = {max(_ascii_runs(each), key=len) for each in forms}
    return tuple(sorted(forms)) if all(forms) else ()


def _ascii_runs(text: str) -> list[str]:
    return "".join(each if each.isascii() else "\x00" for each in text).split("\x00")
