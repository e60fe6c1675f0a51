"""What a worker has to know to go on with a run where it stands."""

from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q

from runs.models import (
    Assignment,
    AuditEvent,
    Call,
    Checkpoint,
    Judgement,
    PlannedCall,
    Replay,
    Step,
    Wait,
)
from runs.rules import canonical
from runs.rules.answers import Answered
from runs.rules.calls import CallRecord, record_of
from runs.rules.states import AssignmentState, CallState, StepState, WaitState, WorkerState


class Reached(NamedTuple):
    """Count and digest of the keys accepted up to a checkpoint, and its schema."""

    keys_count: int = 0
    keys_digest: str = ""
    schema: int = 0


def facts_of(run_id: UUID) -> dict[str, Any]:
    """Every fact that finished steps have written."""
    facts: dict[str, Any] = {}
    rows = Step.objects.filter(
        run_id=run_id, superseded=False, state=StepState.SUCCEEDED.value
    ).order_by("ordinal")
    for text in rows.values_list("facts", flat=True):
        facts.update(canonical.loads(text))
    return facts


def reached(run_id: UUID, number: int) -> Reached:
    """What the run's last checkpoint counts, and in which form it was written."""
    rows = Checkpoint.objects.filter(run_id=run_id, number=number)
    row = rows.values_list("keys_count", "keys_digest", "schema").first()
    return Reached(*row) if row else Reached()


def answers_of(run_id: UUID, *, step: str, generation: int) -> dict[str, Answered]:
    """The closed waits of a step, by name; one that was withdrawn is asked again."""
    rows = Wait.objects.filter(
        run_id=run_id, step=step, generation=generation, superseded=False
    ).exclude(state__in=[WaitState.OPEN.value, WaitState.WITHDRAWN.value])
    return {
        wait.name: Answered(
            wait_id=wait.pk,
            state=WaitState(wait.state),
            answer=canonical.loads(wait.answer) if wait.answer is not None else None,
            asked=canonical.loads(wait.subject),
            by=wait.closed_by,
            at=wait.closed_at,
        )
        for wait in rows
    }


def calls_of(run_id: UUID, *, scope: str) -> dict[tuple[str, str], CallRecord]:
    """The calls of a key scope, by (effect, resource), and the undos made in any step."""
    rows = Call.objects.filter(Q(scope=scope) | Q(undoes__isnull=False), run_id=run_id)
    return {(row.effect, row.resource): record_of(row) for row in rows.iterator()}


class InScope(NamedTuple):
    """A call, and the key scope of the step that made it."""

    call: CallRecord
    scope: str


def call_under(key: str) -> InScope:
    """The call that carries this key."""
    row = Call.objects.get(key=key)
    return InScope(record_of(row), row.scope)


def unaccepted_calls(run_id: UUID, *, scope: str, generation: int) -> list[CallRecord]:
    """Calls of a step that no checkpoint of this generation has accepted yet."""
    done = Q(undoes__isnull=False, state=CallState.CONFIRMED.value)
    rows = Call.objects.filter(run_id=run_id, scope=scope).filter(
        Q(generation=generation, checkpoint=None) | Q(generation__lt=generation)
    )
    # What undid a call was made for a person, not by the body, which need not name it.
    rows = rows.exclude(done)
    return [record_of(row) for row in rows.order_by("id")]


def judgements_of(run_id: UUID, *, scope: str, ordinal: int, generation: int) -> dict[str, str]:
    """Kept answers by input hash, back to the last replay that forgot those of this step (R12)."""
    since = 1 if generation == 1 else _judged_since(run_id, ordinal=ordinal)
    rows = Judgement.objects.filter(run_id=run_id, scope=scope, generation__gte=since)
    return dict(rows.order_by("generation").values_list("input_hash", "answer"))


def _judged_since(run_id: UUID, *, ordinal: int) -> int:
    forgot = Replay.objects.filter(run_id=run_id, forgets_judgements=True, ordinal__lte=ordinal)
    newest = forgot.order_by("-generation").values_list("generation", flat=True).first()
    return newest or 1


def generation_of(run_id: UUID, *, step: str) -> int:
    """The generation of a step whose result counts."""
    return Step.objects.values_list("generation", flat=True).get(
        run_id=run_id, key=step, superseded=False
    )


def planned_calls(run_id: UUID, *, plan: str, generation: int) -> Iterator[PlannedCall]:
    """The rows of a plan, in order."""
    return (
        PlannedCall.objects.filter(run_id=run_id, plan=plan, generation=generation)
        .order_by("ordinal")
        .iterator(chunk_size=500)
    )


def planned_digests(run_id: UUID, *, plan: str, generation: int) -> dict[tuple[str, str], str]:
    """The digests of a plan's calls, by (effect, resource)."""
    rows = PlannedCall.objects.filter(run_id=run_id, plan=plan, generation=generation)
    return {
        (effect, resource): digest
        for effect, resource, digest in rows.values_list("effect", "resource", "digest")
    }


def planned_count(run_id: UUID, *, plan: str, generation: int) -> int:
    return PlannedCall.objects.filter(run_id=run_id, plan=plan, generation=generation).count()


def sender_is_gone(run_id: UUID, *, fence: int) -> bool:
    """Whether whoever sent under this fence can send no more (R1): it returned, or is proven dead."""
    assignment = (
        Assignment.objects.filter(run_id=run_id, fence=fence).select_related("worker").first()
    )
    if assignment is None:
        return False
    if assignment.state == AssignmentState.RELEASED:
        return True
    worker = assignment.worker
    return worker is not None and (worker.state == WorkerState.ENDED.value or worker.proven_dead)


def senders_are_gone(run_id: UUID, *, key: str, besides: int) -> bool:
    """Whether nobody who has ever sent this key can still send it, the present fence aside (R1)."""
    sent = AuditEvent.objects.filter(
        run_id=run_id, kind__in=("call.intended", "call.sent_again"), body__contains=key
    )
    fences = set(sent.values_list("fence", flat=True)) - {besides}
    return all(sender_is_gone(run_id, fence=fence) for fence in fences)


def late_answers(tenant_id: int, *, key: str) -> list[Any]:
    """What came back for this key to workers that had been replaced by then."""
    rows = AuditEvent.objects.filter(
        tenant_id=tenant_id, run=None, kind="call.late_answer", body__contains=key
    ).order_by("seq")
    return [canonical.loads(body)["answer"] for body in rows.values_list("body", flat=True)]


def other_work_waits() -> bool:
    """Whether any run waits to be claimed."""
    return Assignment.objects.filter(state=AssignmentState.PLACED.value).exists()
