"""How long it took from a commit to the step that it set off."""

from uuid import UUID

from runs.models import AuditEvent, Run, Wait
from runs.rules.states import WaitState


def state_of(run_id: UUID) -> str:
    return Run.objects.values_list("state", flat=True).get(pk=run_id)


def open_wait(run_id: UUID) -> int:
    """The open wait of a parked run."""
    return Wait.objects.values_list("pk", flat=True).get(run_id=run_id, state=WaitState.OPEN.value)


def seconds_to_start(run_id: UUID) -> tuple[float, float]:
    """From the start's commit, and from the first answer's, to the step's start that followed."""
    began = list(
        AuditEvent.objects.filter(run_id=run_id, kind="step.started")
        .order_by("seq")
        .values_list("at", flat=True)
    )
    created_at = Run.objects.values_list("created_at", flat=True).get(pk=run_id)
    closed_at = Wait.objects.filter(run_id=run_id).values_list("closed_at", flat=True).get()
    if closed_at is None:
        raise ValueError(f"Run {run_id} has not been answered.")
    resumed = next(at for at in began if at >= closed_at)
    return (began[0] - created_at).total_seconds(), (resumed - closed_at).total_seconds()
