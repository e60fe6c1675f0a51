"""The triggers that hold I1, I3, I5, I8, I10 and I12 in the database itself.

Django's SQLite schema editor drops triggers silently when it rebuilds a table, so they are not
made by migrations but from the one list below, after each of them (R20).
"""

from dataclasses import dataclass
from itertools import groupby

from django.db.backends.base.base import BaseDatabaseWrapper

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
OF_A_RUN = (*FENCED, "runs_assignment", "runs_auditevent")
FINAL = "('succeeded', 'cancelled', 'superseded')"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Refuse `event` on `table` where `refused` holds.

    `{fence}`, `{state}` and `{checkpoint}` stand for those of the run that the row belongs to.
    """

    table: str
    event: str
    refused: str
    because: str


def _of_every_row() -> list[Rule]:
    rules = []
    for event in ("INSERT", "UPDATE"):
        for table in OF_A_RUN:
            rules.append(
                Rule(
                    table=table,
                    event=event,
                    refused=f"{{state}} IN {FINAL}",
                    because="I10: this run is final and never changes again",
                )
            )
        for table in FENCED:
            rules.append(
                Rule(
                    table=table,
                    event=event,
                    refused="NEW.fence <> {fence}",
                    because="I3: this fence is not the newest of its run",
                )
            )
    return rules


RULES: list[Rule] = [
    *_of_every_row(),
    Rule(
        table="runs_run",
        event="UPDATE",
        refused=f"OLD.state IN {FINAL}",
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
            " (NEW.state <> OLD.state OR NEW.facts <> OLD.facts OR NEW.fence <> OLD.fence)"
        ),
        because="I1: the result of a finished step never changes",
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
        table="runs_auditevent",
        event="UPDATE",
        refused=(
            "NEW.hash <> OLD.hash OR NEW.prev <> OLD.prev OR NEW.seq <> OLD.seq"
            " OR NEW.kind <> OLD.kind OR NEW.payload_digest <> OLD.payload_digest"
            " OR NEW.at <> OLD.at OR (NEW.body <> OLD.body AND NEW.body <> '')"
        ),
        because="I12: an audit event is append-only",
    ),
]


def names() -> list[str]:
    """One trigger for each table and event that has rules."""
    return [_name(table, event) for table, event, _ in _grouped()]


def install(connection: BaseDatabaseWrapper) -> None:
    """Make every guard again, in its present form."""
    make = _on_sqlite if connection.vendor == "sqlite" else _on_postgresql
    with connection.cursor() as cursor:
        for table, event, rules in _grouped():
            for statement in make(table, event, rules):
                cursor.execute(statement)


def missing(connection: BaseDatabaseWrapper) -> list[str]:
    """Names of guards that this database does not have."""
    there_is = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled = 'O'"
    if connection.vendor == "sqlite":
        there_is = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    with connection.cursor() as cursor:
        cursor.execute(there_is)
        there = {row[0] for row in cursor.fetchall()}
    return [name for name in names() if name not in there]


def _grouped() -> list[tuple[str, str, list[Rule]]]:
    ordered = sorted(RULES, key=lambda rule: (rule.table, rule.event))
    groups = groupby(ordered, key=lambda rule: (rule.table, rule.event))
    return [(table, event, list(rules)) for (table, event), rules in groups]


def _name(table: str, event: str) -> str:
    return f"{table}_{event.lower()}_guard"


def _on_sqlite(table: str, event: str, rules: list[Rule]) -> list[str]:
    run = "(SELECT {column} FROM runs_run WHERE id = NEW.run_id)"
    columns = {name: run.format(column=name) for name in ("fence", "state", "checkpoint")}
    checks = " ".join(
        f"SELECT RAISE(ABORT, '{rule.because}') WHERE {rule.refused.format(**columns)};"
        for rule in rules
    )
    name = _name(table, event)
    return [
        f"DROP TRIGGER IF EXISTS {name}",
        f"CREATE TRIGGER {name} BEFORE {event} ON {table} BEGIN {checks} END",
    ]


def _on_postgresql(table: str, event: str, rules: list[Rule]) -> list[str]:
    columns = {name: f"r.{name}" for name in ("fence", "state", "checkpoint")}
    checks = " ".join(
        f"IF {rule.refused.format(**columns)} THEN RAISE EXCEPTION '{rule.because}'"
        " USING ERRCODE = 'check_violation'; END IF;"
        for rule in rules
    )
    # FOR SHARE: without it a takeover that has not committed yet would not be seen (R20).
    read = (
        ""
        if table == "runs_run"
        else "SELECT fence, state, checkpoint INTO r FROM runs_run WHERE id = NEW.run_id FOR SHARE;"
    )
    name = _name(table, event)
    return [
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$"
        f" DECLARE r record; BEGIN {read} {checks} RETURN NEW; END $$",
        f"DROP TRIGGER IF EXISTS {name} ON {table}",
        f"CREATE TRIGGER {name} BEFORE {event} ON {table}"
        f" FOR EACH ROW EXECUTE FUNCTION {name}()",
    ]
