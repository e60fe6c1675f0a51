"""How far a run has come, read so cheaply that one may ask four times a second."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import F

from runs.models import Run, Step, Wait
from runs.queries.why import why_of
from runs.rules.states import RunState, WaitKind, WaitState
from runs.rules.why import Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """`seq` rises with every recorded fact; `done` and `total` are the step's own count."""

    state: RunState
    seq: int
    step: str
    ordinal: int
    steps_total: int
    done: int
    total: int | None


def glance_at(run_id: UUID) -> Glance:
    """One statement: the run by its key, and the step it stands at by the key of both."""
    row = (
        Step.objects.filter(run_id=run_id, key=F("run__step"), superseded=False)
        .values_list(
            "run__state",
            "run__seq",
            "key",
            "ordinal",
            "run__steps_total",
            "cursor_ordinal",
            "progress_done",
            "progress_total",
        )
        .get()
    )
    state, seq, step, ordinal, steps_total, cursor, done, total = row
    return Glance(
        state=RunState(state),
        seq=seq,
        step=step,
        ordinal=ordinal,
        steps_total=steps_total,
        done=cursor if done is None else done,
        total=total,
    )


def why_now(run_id: UUID) -> Why:
    return why_of(Run.objects.select_related("worker").get(pk=run_id))


def asks_somebody(run_id: UUID) -> int | None:
    """The open wait that only a person can close, if that is what the run waits for."""
    waits = Wait.objects.filter(run_id=run_id, state=WaitState.OPEN.value)
    return waits.filter(kind=WaitKind.DECISION.value).values_list("pk", flat=True).first()
