"""The triggers that hold I1, I3, I5, I8, I10 and I12 in the database itself.

Django's SQLite schema editor drops triggers silently when it rebuilds a table, so they are not
made by migrations but from the one list below, after each of them (R20).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from runs.rules.states import FINAL, RunState, StepState

FENCED = (
    "runs_artifact",
    "runs_call",
    "runs_checkpoint",
    "runs_judgement",
    "runs_logline",
    "runs_plannedcall",
    "runs_step",
    "runs_wait",
)
OF_A_RUN = (*FENCED, "runs_assignment", "runs_auditevent", "runs_replay")


def _words(states: Iterable[StrEnum]) -> str:
    return "(" + ", ".join(f"'{state.value}'" for state in states) + ")"


FINAL_STATES = _words(sorted(FINAL))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Refuse `event` on `table` where `refused` holds.

    `{fence}`, `{state}`, `{checkpoint}` and `{generation}` stand for those of the row's run.
    """

    table: str
    event: str
    refused: str
    because: str


def _of_every_row() -> list[Rule]:
    final = [
        Rule(
            table=table,
            event=event,
            refused=f"{{state}} IN {FINAL_STATES}",
            because="I10: this run is final and never changes again",
        )
        for table in OF_A_RUN
        for event in ("INSERT", "UPDATE")
    ]
    stale = [
        Rule(
            table=table,
            event=event,
            refused="NEW.fence <> {fence}",
            because="I3: this fence is not the newest of its run",
        )
        for table in FENCED
        for event in ("INSERT", "UPDATE")
    ]
    return [*final, *stale]


def _of_states() -> list[Rule]:
    """What a row alone tells: here, since PostgreSQL reads a constraint anew in every statement."""
    known = [
        ("runs_run", f"NEW.state NOT IN {_words(RunState)}", "a run is in one of its states"),
        ("runs_step", f"NEW.state NOT IN {_words(StepState)}", "a step is in one of its states"),
        (
            "runs_run",
            f"(NEW.state IN {FINAL_STATES}) <> (NEW.ended_at IS NOT NULL)",
            "I10: a run has ended where it is final, and nowhere else",
        ),
        (
            "runs_run",
            "(NEW.state = 'running') <> (NEW.worker_id IS NOT NULL)",
            "I11: a run has a worker where it is running, and nowhere else",
        ),
    ]
    return [
        Rule(table=table, event=event, refused=refused, because=because)
        for table, refused, because in known
        for event in ("INSERT", "UPDATE")
    ]


RULES: list[Rule] = [
    *_of_every_row(),
    *_of_states(),
    Rule(
        table="runs_run",
        event="UPDATE",
        refused="OLD.ended_at IS NOT NULL",
        because="I10: this run is final and never changes again",
    ),
    Rule(
        table="runs_run",
        event="UPDATE",
        refused="NEW.fence < OLD.fence OR NEW.checkpoint < OLD.checkpoint OR NEW.seq < OLD.seq",
        because="I3, I8: fence, checkpoint and event numbers never go back",
    ),
    Rule(
        table="runs_step",
        event="UPDATE",
        refused="NEW.cursor_ordinal < OLD.cursor_ordinal",
        because="I8: a cursor never goes back within a generation",
    ),
    Rule(
        table="runs_step",
        event="UPDATE",
        refused=(
            "OLD.state = 'succeeded' AND"
            " (NEW.state <> OLD.state OR NEW.facts <> OLD.facts"
            " OR (NEW.fence <> OLD.fence AND NOT NEW.superseded))"
        ),
        because="I1: the result of a finished step never changes",
    ),
    Rule(
        table="runs_step",
        event="UPDATE",
        refused="OLD.superseded",
        because="I1: what a replay has superseded never changes again",
    ),
    Rule(
        table="runs_step",
        event="INSERT",
        refused="NEW.generation <> {generation}",
        because="I1: a step begins in the generation of its run",
    ),
    Rule(
        table="runs_checkpoint",
        event="INSERT",
        refused="NEW.number <= {checkpoint}",
        because="I8: checkpoint numbers of a run never go back",
    ),
    Rule(
        table="runs_checkpoint",
        event="UPDATE",
        refused="1 = 1",
        because="I8: a checkpoint is immutable",
    ),
    Rule(
        table="runs_call",
        event="UPDATE",
        refused="NEW.key <> OLD.key OR NEW.request <> OLD.request OR NEW.run_id <> OLD.run_id",
        because="I5: a key names one call with one request",
    ),
    Rule(
        table="runs_call",
        event="UPDATE",
        refused="OLD.state = 'confirmed' AND (NEW.state <> OLD.state OR NEW.answer <> OLD.answer)",
        because="I5: a confirmed call keeps its answer",
    ),
    Rule(
        table="runs_step",
        event="INSERT",
        refused="{state} IS NULL",
        because="I1: there is no such run",
    ),
    Rule(
        table="runs_checkpoint",
        event="INSERT",
        refused="{state} IS NULL",
        because="I8: there is no such run",
    ),
    Rule(
        table="runs_auditevent",
        event="INSERT",
        refused="NEW.run_id IS NOT NULL AND {state} IS NULL",
        because="I12: there is no such run",
    ),
    Rule(
        table="runs_auditevent",
        event="UPDATE",
        refused=(
            "NEW.hash <> OLD.hash OR NEW.prev <> OLD.prev OR NEW.seq <> OLD.seq"
            " OR NEW.kind <> OLD.kind OR NEW.payload_digest <> OLD.payload_digest"
            " OR NEW.at <> OLD.at OR (NEW.body <> OLD.body AND NEW.body <> '')"
        ),
        because="I12: an audit event is append-only",
    ),
    Rule(
        table="runs_note",
        event="UPDATE",
        refused=(
            'NEW.text <> OLD.text OR NEW."by" <> OLD."by" OR NEW.at <> OLD.at'
            " OR NEW.run_id <> OLD.run_id OR (OLD.withdrawn_at IS NOT NULL"
            " AND (NEW.withdrawn_at IS NULL OR NEW.withdrawn_at <> OLD.withdrawn_at))"
        ),
        because="I12: a note keeps its text, and is only withdrawn",
    ),
]


def register(rule: Rule) -> None:
    """Let another app guard a table of its own; a rule that names nothing of a run needs none."""
    if rule not in RULES:
        RULES.append(rule)


def asks_the_run(rule: Rule) -> bool:
    return "{" in rule.refused


def names() -> list[str]:
    """One trigger for each table and event that has rules."""
    return [name_of(table, event) for table, event, _ in grouped()]


def grouped() -> list[tuple[str, str, list[Rule]]]:
    """The rules of each table and event, which one trigger holds together."""
    ordered = sorted(RULES, key=lambda rule: (rule.table, rule.event))
    groups = groupby(ordered, key=lambda rule: (rule.table, rule.event))
    return [(table, event, list(rules)) for (table, event), rules in groups]


def name_of(table: str, event: str) -> str:
    """What the trigger of a table and event is called."""
    return f"{table}_{event.lower()}_guard"
