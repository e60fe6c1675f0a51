"""What a decision about a run rests on: its input, its plan, its calls, and what came back late."""

from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Count

from runs.models import AuditEvent, Call, Run
from runs.rules.calls import CallRecord, record_of
from runs.rules.states import CallState

MOST_NAMED = 50


class Code(NamedTuple):
    """Which workflow, and which of its versions, a run follows."""

    name: str
    version: int


def ground_of(run_id: UUID) -> dict[str, Any]:
    """The facts to be compared later: short, however many calls there are."""
    run = Run.objects.get(pk=run_id)
    unknown = Call.objects.filter(run=run).exclude(state=CallState.CONFIRMED.value)
    named = unknown.order_by("id").only("key", "state", "sends", "unsent")[:MOST_NAMED]
    late = AuditEvent.objects.filter(
        tenant_id=run.tenant_id, run=None, kind="call.late_answer", body__contains=str(run_id)
    ).count()
    return {
        "the input of the run": run.input_digest,
        "the plan of the run": run.plan_id,
        "its generation": run.generation,
        "its calls by state": _counted(run),
        **{f"call {call.key}": _said(call) for call in named},
        "answers that came back late": late,
    }


def _said(call: Call) -> str:
    return f"{call.state}, never left" if call.unsent else f"{call.state}, sent {call.sends}x"


def _counted(run: Run) -> dict[str, int]:
    rows = Call.objects.filter(run=run).order_by().values("state").annotate(amount=Count("pk"))
    return {row["state"]: row["amount"] for row in rows}


def call_by_key(run_id: UUID, key: str) -> CallRecord | None:
    """The call of this run that carries this key."""
    row = Call.objects.filter(run_id=run_id, key=key).first()
    return record_of(row) if row else None


def code_of(run_id: UUID) -> Code:
    return Code(*Run.objects.values_list("workflow", "version").get(pk=run_id))
