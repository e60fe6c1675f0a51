"""Badges: what many monitors are together, how that is drawn, and at which signed address."""

import base64
import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax.saxutils import escape

from monitors.rules.states import MonitorState

EVERY_TAG = ""
COLOURS = {
    MonitorState.UP: "#2b7a3d",
    MonitorState.LATE: "#8a5a00",
    MonitorState.DOWN: "#b3261e",
    MonitorState.NEW: "#5b6470",
    MonitorState.PAUSED: "#5b6470",
}
# The names that shields.io knows.
SHIELDS = {
    MonitorState.UP: "success",
    MonitorState.LATE: "important",
    MonitorState.DOWN: "critical",
    MonitorState.NEW: "inactive",
    MonitorState.PAUSED: "inactive",
}
WORST_FIRST = (MonitorState.DOWN, MonitorState.LATE, MonitorState.UP, MonitorState.NEW)
SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{label}: {word}">
<title>{label}: {word}</title>
<rect width="{width}" height="20" rx="3" fill="#3b424c"/>
<path d="M{left} 0h{inner}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{inner}z" fill="{colour}"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{label_at}" y="14">{label}</text>
<text x="{word_at}" y="14">{word}</text>
</g>
</svg>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """`total` counts the monitors that it is about, `down` and `late` those that are so."""

    label: str
    state: MonitorState
    total: int
    down: int
    late: int

    def to_json(self) -> dict[str, object]:
        return {
            "label": self.label,
            "status": self.state.value,
            "total": self.total,
            "down": self.down,
            "late": self.late,
        }

    def to_shields(self) -> dict[str, object]:
        told = {"label": self.label, "message": self.state.value, "color": SHIELDS[self.state]}
        return {"schemaVersion": 1, **told}

    def to_svg(self) -> str:
        """A drawing without any style of its own, which the site's policy would block."""
        left, right = _width(self.label), _width(self.state.value)
        return SVG.format(
            label=escape(self.label, {'"': "&quot;"}),
            word=self.state.value,
            colour=COLOURS[self.state],
            width=left + right,
            left=left,
            inner=right - 3,
            label_at=left // 2,
            word_at=left + right // 2,
        )


def badge_of(states: Iterable[str], *, label: str) -> Badge:
    """The worst of them; what is paused counts for nothing, what was never pinged for little."""
    counted = [MonitorState(state) for state in states]
    worst = next((state for state in WORST_FIRST if state in counted), MonitorState.PAUSED)
    return Badge(
        label=label,
        state=worst if counted else MonitorState.NEW,
        total=len(counted),
        down=counted.count(MonitorState.DOWN),
        late=counted.count(MonitorState.LATE),
    )


def signature(secret: str, *, tenant_id: int, tag: str, round_: int) -> str:
    """Part of the address: nobody makes one for another tag from the one they know."""
    key = hashlib.sha256(b"monitors.badge" + secret.encode()).digest()
    told = f"{tenant_id}:{round_}:{tag}".encode()
    digest = hmac.new(key, told, hashlib.sha256).digest()[:18]
    return base64.urlsafe_b64encode(digest).decode()


def _width(text: str) -> int:
    """Enough for the widest letters, so that no font cuts a word off."""
    return 14 + 8 * len(text)
