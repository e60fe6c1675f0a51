"""What an incident is: alerts with one cause, how bad it is, and what may be done about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from monitors.rules.changes import Change
from monitors.rules.states import MonitorState, Verdict

# Alerts that share a worker, a workflow or a cause within this time of one another are one incident.
WINDOW = timedelta(minutes=5)
# So many unrelated ones within a minute have one cause that nobody has named.
MANY = 20
MANY_WITHIN = timedelta(minutes=1)
MANY_KEY = "many at once"


class IncidentState(StrEnum):
    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"


class Severity(StrEnum):
    """`recovery` is said of messages only."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


MOVES: dict[IncidentState, frozenset[IncidentState]] = {
    IncidentState.OPEN: frozenset({IncidentState.ACKNOWLEDGED, IncidentState.RESOLVED}),
    IncidentState.ACKNOWLEDGED: frozenset({IncidentState.OPEN, IncidentState.RESOLVED}),
    IncidentState.RESOLVED: frozenset(),
}
RANK = {Severity.INFO: 0, Severity.WARNING: 1, Severity.CRITICAL: 2}
# What the tables of runs show as wrong, by the kind that begins its subject.
SWEPT = ("schedule", "message", "channel")
# Why an alert was closed that a person called over, whatever it is about.
RESOLVED_BY = "resolved by "
LONGEST_NOTE = 2000
LONGEST_SNOOZE = timedelta(days=30)


class IncidentRefused(Exception):
    """What was asked of an incident cannot be done; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """One thing that is wrong, as whoever found it says it.

    `subject` names the thing for good (`monitor:7`); at most one alert is open for it. `causes` are
    the names that it shares with others of the same cause, the likeliest first. What is put down
    `quietly` sends no message: others have told people, or nobody is to be called now.
    """

    tenant_id: int
    subject: str
    sentence: str
    severity: Severity
    link: str
    causes: tuple[str, ...] = ()
    workflow: str = ""
    kind: str = ""
    quietly: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Every name under which its incident is found again."""
        return (*self.causes, self.subject)


def causes_of(
    *, worker: str = "", clusters: Sequence[str] = (), workflow: str = ""
) -> tuple[str, ...]:
    """What a monitor shares with others: its worker, who keeps that, then its workflow."""
    named = [("worker", worker), *(("cluster", each) for each in clusters), ("workflow", workflow)]
    return tuple(f"{kind}:{name}" for kind, name in named if name)


def is_worse(severity: str, *, than: str) -> bool:
    return RANK[Severity(severity)] > RANK[Severity(than)]


def worst(severities: Sequence[str]) -> Severity:
    return max((Severity(each) for each in severities), key=RANK.__getitem__, default=Severity.INFO)


def title_of(sentence: str, *, affected: int, about: str = "") -> str:
    """One sentence for an incident: the first alert's, and how many more there are."""
    if affected <= 1:
        return sentence
    more = affected - 1
    about = f" of {about}" if about else ""
    return f"{sentence.rstrip('.')}, and {more} more{about}."


def snooze_refusal(until: datetime, *, now: datetime) -> str:
    """Why it cannot be snoozed until then; empty when it can."""
    if until <= now:
        return "That moment is over already; name one that is still to come."
    if until - now > LONGEST_SNOOZE:
        return f"At most {LONGEST_SNOOZE.days} days, so that nobody forgets it."
    return ""


def severity_of(change: Change) -> Severity:
    """Absence and a reported failure call somebody; slowness asks for a look."""
    return Severity.CRITICAL if change.state == MonitorState.DOWN else Severity.WARNING


def says_trouble(state: str, verdict: str) -> bool:
    """Whether this is told as something wrong; a blind judge says nothing of the monitor."""
    wrong = verdict in (Verdict.SLOW.value, Verdict.CUT_OFF.value, Verdict.SILENT.value)
    return wrong or (state == MonitorState.DOWN.value and verdict != Verdict.BLIND.value)


def says_well(state: str, verdict: str) -> bool:
    return verdict == Verdict.ALIVE.value and not says_trouble(state, verdict)


def is_trouble(change: Change) -> bool:
    return not change.retired and says_trouble(change.state.value, change.verdict.value)


def is_well(change: Change) -> bool:
    return change.retired or says_well(change.state.value, change.verdict.value)


def key_of(incident_id: int) -> str:
    """What the ids of all messages about an incident begin with; its number follows."""
    return f"incident:{incident_id}:"


def incident_in(key: str) -> int | None:
    """Which incident a message is about, by its id."""
    name, _, rest = key.partition(":")
    number = rest.partition(":")[0]
    return int(number) if name == "incident" and number.isdecimal() else None


def number_in(key: str) -> int | None:
    """Which of an incident's messages this is; None for a digest of several incidents."""
    number = key.split(" ", 1)[0].rpartition(":")[2]
    return int(number) if number.isdecimal() and ":digest:" not in key else None


def subject_of_monitor(monitor_id: int) -> str:
    return f"monitor:{monitor_id}"


def trouble_of(change: Change) -> Trouble:
    """Absence may be that of the whole cluster: a stopped worker has it replace the others too."""
    absent = change.state == MonitorState.DOWN
    return Trouble(
        tenant_id=change.tenant_id,
        subject=subject_of_monitor(change.monitor_id),
        sentence=change.sentence,
        severity=severity_of(change),
        link=f"/monitors/{change.monitor_id}/",
        causes=causes_of(
            worker=change.worker,
            clusters=change.clusters if absent else (),
            workflow=change.workflow,
        ),
        workflow=change.workflow,
        kind="monitor",
        quietly=not change.told,
    )
