"""The rows that no writer may write, whoever it is: I1, I3, I8 and I10 held in the database.

Django's SQLite schema editor drops triggers silently when it rebuilds a table, so they are not
made by migrations but from the one list below, after each of them (R20).
"""

from dataclasses import dataclass

FENCED = (
    "runs_step",
    "runs_checkpoint",
    "runs_call",
    "runs_plannedcall",
    "runs_judgement",
    "runs_artifact",
    "runs_logline",
    "runs_wait",
)
OF_A_RUN = (*FENCED, "runs_assignment", "runs_auditevent")
FINAL = "('succeeded', 'cancelled', 'superseded')"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Refuses `event` on `table` where `refused` holds, saying `because`."""

    name: str
    table: str
    event: str
    refused: str
    because: str


def _fence_guards() -> list[Guard]:
    stale = "NEW.fence <> (SELECT fence FROM runs_run WHERE id = NEW.run_id{share})"
    return [
        Guard(
            name=f"{table}_{event.lower()}_needs_the_newest_fence",
            table=table,
            event=event,
            refused=stale,
            because="I3: this fence is not the newest of its run",
        )
        for table in FENCED
        for event in ("INSERT", "UPDATE")
    ]


def _final_guards() -> list[Guard]:
    # Names of tables cannot be parameters, and these come from the list above.
    final = f"(SELECT state FROM runs_run WHERE id = NEW.run_id{{share}}) IN {FINAL}"  # noqa: S608
    return [
        Guard(
            name=f"{table}_{event.lower()}_needs_a_run_that_is_not_final",
            table=table,
            event=event,
            refused=final,
            because="I10: this run is final and never changes again",
        )
        for table in OF_A_RUN
        for event in ("INSERT", "UPDATE")
    ]


GUARDS: list[Guard] = [
    *_fence_guards(),
    *_final_guards(),
    Guard(
        name="runs_run_final_never_changes",
        table="runs_run",
        event="UPDATE",
        refused=f"OLD.state IN {FINAL}",
        because="I10: this run is final and never changes again",
    ),
    Guard(
        name="runs_run_numbers_never_go_back",
        table="runs_run",
        event="UPDATE",
        refused="NEW.fence < OLD.fence OR NEW.checkpoint < OLD.checkpoint OR NEW.seq < OLD.seq",
        because="I3, I8: fence, checkpoint and event numbers never go back",
    ),
    Guard(
        name="runs_step_cursor_never_goes_back",
        table="runs_step",
        event="UPDATE",
        refused="NEW.cursor_ordinal < OLD.cursor_ordinal",
        because="I8: a cursor never goes back within a generation",
    ),
    Guard(
        name="runs_step_result_is_kept",
        table="runs_step",
        event="UPDATE",
        refused=(
            "OLD.state = 'succeeded' AND"
            " (NEW.state <> OLD.state OR NEW.facts <> OLD.facts OR NEW.fence <> OLD.fence)"
        ),
        because="I1: the result of a finished step never changes",
    ),
    Guard(
        name="runs_checkpoint_number_rises",
        table="runs_checkpoint",
        event="INSERT",
        refused="NEW.number <= (SELECT checkpoint FROM runs_run WHERE id = NEW.run_id{share})",
        because="I8: checkpoint numbers of a run never go back",
    ),
    Guard(
        name="runs_checkpoint_never_changes",
        table="runs_checkpoint",
        event="UPDATE",
        refused="1 = 1",
        because="I8: a checkpoint is immutable",
    ),
    Guard(
        name="runs_call_keeps_its_bytes",
        table="runs_call",
        event="UPDATE",
        refused="NEW.key <> OLD.key OR NEW.request <> OLD.request OR NEW.run_id <> OLD.run_id",
        because="I5: a key names one call with one request",
    ),
    Guard(
        name="runs_call_confirmed_is_kept",
        table="runs_call",
        event="UPDATE",
        refused="OLD.state = 'confirmed' AND (NEW.state <> OLD.state OR NEW.answer <> OLD.answer)",
        because="I5: a confirmed call keeps its answer",
    ),
    Guard(
        name="runs_auditevent_only_erased",
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
