"""The closing record of a run: every step, its outcome, and every key sent (I12)."""

from typing import Any
from uuid import UUID

from runs.models import Call, Run, Step, Wait

STEP_FIELDS = ("key", "generation", "state", "attempt", "failures", "crashes", "facts_digest")
CALL_FIELDS = ("key", "step", "effect", "state", "sends", "receiver_id", "authority")
WAIT_FIELDS = ("name", "step", "kind", "state", "closed_by")


def audit_line(run: Run, *, state: str, reason: str, in_flight: str = "") -> dict[str, Any]:
    """What the tables say about a run that is about to be `state`; JSON, without times."""
    return {
        "run": str(run.pk),
        "reference": run.reference,
        "workflow": run.workflow,
        "version": run.version,
        "plan_hash": run.plan_id,
        "state": state,
        "reason": reason,
        "in_flight": in_flight,
        **steps_calls_waits(run.pk),
    }


def steps_calls_waits(run_id: UUID) -> dict[str, list[dict[str, Any]]]:
    """The part of the line that must equal the tables; `verify` compares it."""
    return {
        "steps": list(
            Step.objects.filter(run_id=run_id)
            .order_by("generation", "ordinal")
            .values(*STEP_FIELDS)
        ),
        "calls": list(Call.objects.filter(run_id=run_id).order_by("id").values(*CALL_FIELDS)),
        "waits": list(Wait.objects.filter(run_id=run_id).order_by("id").values(*WAIT_FIELDS)),
    }


def audit_line_after(
    run_id: UUID, *, step: str, generation: int, facts_digest: str
) -> dict[str, Any]:
    """The line of a run whose last step is about to be committed as succeeded."""
    run = Run.objects.get(pk=run_id)
    said = audit_line(run, state="succeeded", reason="done")
    for row in said["steps"]:
        if (row["key"], row["generation"]) == (step, generation):
            row["state"], row["facts_digest"] = "succeeded", facts_digest
    return said
