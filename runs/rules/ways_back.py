"""The opposite of what was just done: where it is asked for, and with which fields."""

import json
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class WayBack:
    """The form behind an Undo button."""

    url: str
    fields: dict[str, str] = field(default_factory=dict)

    def to_text(self) -> str:
        return json.dumps([self.url, self.fields])


def from_text(text: str) -> WayBack | None:
    """What a message carries along; None for one that says nothing but its sentence."""
    if not text.startswith("["):
        return None
    url, fields = json.loads(text)
    return WayBack(url=url, fields=fields)
