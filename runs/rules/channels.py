"""Which news takes which channel, and when a channel counts as dead."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from runs.rules.redaction import redact


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
NAME = re.compile(r"[\w][\w .-]{0,59}")
TEST_KIND = "channel.test"
# How long the secret before a rotation still signs beside the new one.
OLD_SECRET_FOR = timedelta(hours=24)
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
    """One line without secrets, whatever it was made of, so that it can be a subject."""
    line = " ".join(redact(text, secrets={}).split())
    return line if len(line) <= TITLE_AT_MOST else line[: TITLE_AT_MOST - 1] + "…"


class ChannelRefused(Exception):
    """A channel cannot be as asked; `errors` has a sentence for each field."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {error}" for name, error in errors.items()))
        self.errors = dict(errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelWish:
    """A channel as a person asks for it; `led` is None where its address stays."""

    name: str
    kind: str
    severities: tuple[str, ...]
    workflows: tuple[str, ...] = ()
    led: "Led | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Led:
    """Where a channel leads: what may be shown of it, and what is sealed."""

    target: str
    address: str


def refusals(wish: ChannelWish) -> dict[str, str]:
    """What is wrong with a wish, by field."""
    errors: dict[str, str] = {}
    if not NAME.fullmatch(wish.name):
        errors["name"] = "Say 1 to 60 letters, digits, spaces, dots, dashes or underscores."
    if wish.kind not in set(ChannelKind):
        errors["kind"] = f"Say one of {', '.join(ChannelKind)}."
    if not wish.severities or set(wish.severities) - set(Severity):
        errors["severities"] = f"Say at least one of {', '.join(Severity)}."
    if any(not name or len(name) > 100 for name in wish.workflows):
        errors["workflows"] = "Say names of workflows, or nothing for all of them."
    return errors
