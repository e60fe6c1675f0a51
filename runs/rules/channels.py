"""Which news takes which channel, and when a channel counts as dead."""

from collections.abc import Collection
from enum import StrEnum


class ChannelKind(StrEnum):
    """How a channel reaches people."""

    MAIL = "mail"
    WEBHOOK = "webhook"
    APPRISE = "apprise"


class ChannelState(StrEnum):
    """A paused channel is put nothing; of a removed one only the row stays."""

    ACTIVE = "active"
    PAUSED = "paused"
    REMOVED = "removed"


class Severity(StrEnum):
    """How much a piece of news matters; a recovery says that something is well again."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"
    RECOVERY = "recovery"


SEVERITY_SAYS: dict[Severity, str] = {
    Severity.INFO: "Good to know, nothing to do.",
    Severity.WARNING: "Somebody should look: a decision waits, something is late.",
    Severity.CRITICAL: "Something stands still or is lost until somebody acts.",
    Severity.RECOVERY: "What was wrong is well again.",
}
# Under the hour in which a lane tries every few minutes; above a receiver that restarts.
DEAD_AFTER = 5
TITLE_AT_MOST = 200
KEY_AT_MOST = 300
MAIL_LANE = "mail"
LANE = "channel "


def lane_of(channel_id: int) -> str:
    return f"{LANE}{channel_id}"


def channel_of(lane: str) -> int | None:
    """Which channel a lane is for; None for the others."""
    number = lane.removeprefix(LANE)
    return (
        int(number) if lane.startswith(LANE) and number.isascii() and number.isdecimal() else None
    )


def fits(
    severity: str, workflow: str, *, severities: Collection[str], workflows: Collection[str]
) -> bool:
    """Whether news takes a channel; news of no workflow takes those that name some as well."""
    named = not workflows or not workflow or workflow in workflows
    return severity in severities and named


def title_of(text: str) -> str:
    """One line, whatever it was made of, so that it can be a subject."""
    line = " ".join(text.split())
    return line if len(line) <= TITLE_AT_MOST else line[: TITLE_AT_MOST - 1] + "…"
