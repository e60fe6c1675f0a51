"""What may be kept as a view of the list of runs."""

from collections.abc import Mapping
from urllib.parse import urlencode

# What narrows or orders the list; where in it somebody is belongs to no view.
KEPT = ("state", "workflow", "waits_for", "started", "sort", "q")
LONGEST_NAME = 40
LONGEST_PART = 300
MOST = 20


class ViewRefused(ValueError):
    """This cannot be kept as a view; the message says why."""


def query_of(asked: Mapping[str, str]) -> str:
    """The parts of an address that make a view, always in the same order."""
    parts = {name: asked[name][:LONGEST_PART] for name in KEPT if name in asked}
    return urlencode(parts)


def name_of(typed: str) -> str:
    """What a view may be called, without the NUL that PostgreSQL has in no text. Raises ViewRefused."""
    name = " ".join(typed.replace("\0", "").split())
    if not name:
        raise ViewRefused("Give the view a name.")
    if len(name) > LONGEST_NAME:
        raise ViewRefused(f"The name of a view has at most {LONGEST_NAME} characters.")
    return name
