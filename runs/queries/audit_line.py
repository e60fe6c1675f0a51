"""The closing record of a run: every step, its outcome, and every key sent (I12)."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from runs.models import Call, Run, Step, Wait
from runs.queries.in_doubt import calls_in_doubt
from runs.rules.claims import Claimed
from runs.rules.states import UNSETTLED_CALLS

STEP_FIELDS = ("key", "generation", "state", "attempt", "failures", "crashes", "facts_digest")
CALL_FIELDS = ("key", "step", "effect", "state", "sends", "receiver_id", "authority")
WAIT_FIELDS = ("name", "step", "kind", "state", "closed_by")


def audit_line(run: Run, *, state: str, reason: str, in_flight: str = "") -> dict[str, Any]:
    """What the tables say about a run that is about to be `state`; JSON, without times.

    `in_doubt` names the calls of which nobody knows whether they happened, if there are any.
    """
    said = _said(
        run.pk, run, plan_hash=run.plan_id, state=state, reason=reason, in_flight=in_flight
    )
    told = steps_calls_waits(run.pk)
    if any(call["state"] in UNSETTLED_CALLS for call in told["calls"]):
        said["in_doubt"] = calls_in_doubt(run.pk)
    return {**said, **told}


def _said(
    run_id: UUID, run: Run | Claimed, *, plan_hash: str, state: str, reason: str, in_flight: str
) -> dict[str, Any]:
    return {
        "run": str(run_id),
        "reference": run.reference,
        "workflow": run.workflow,
        "version": run.version,
        "plan_hash": plan_hash,
        "state": state,
        "reason": reason,
        "in_flight": in_flight,
    }


def steps_calls_waits(run_id: UUID) -> dict[str, list[dict[str, Any]]]:
    """The part of the line that must equal the tables; `verify` compares it."""
    return {"steps": steps_of(run_id), "calls": calls_of(run_id), "waits": waits_of(run_id)}


def steps_of(run_id: UUID) -> list[dict[str, Any]]:
    rows = Step.objects.filter(run_id=run_id).order_by("generation", "ordinal")
    return list(rows.values(*STEP_FIELDS))


def calls_of(run_id: UUID) -> list[dict[str, Any]]:
    return list(Call.objects.filter(run_id=run_id).order_by("id").values(*CALL_FIELDS))


def waits_of(run_id: UUID) -> list[dict[str, Any]]:
    return list(Wait.objects.filter(run_id=run_id).order_by("id").values(*WAIT_FIELDS))


def audit_line_after(
    claimed: Claimed,
    *,
    done: Sequence[dict[str, Any]],
    is_fresh: bool,
    has_effects: bool,
) -> dict[str, Any]:
    """The line of a run whose last step is about to be committed as succeeded, the last of `done`.

    What is known or cannot be there is not asked for: one fresh claim has seen every step and
    was never parked, and had no calls if its plan has no effects.
    """
    run_id = claimed.fence.run_id
    said = _said(
        run_id, claimed, plan_hash=claimed.plan_hash, state="succeeded", reason="done", in_flight=""
    )
    last = done[-1]
    others = done[:-1] if is_fresh else [row for row in steps_of(run_id) if not _same(row, last)]
    said["steps"] = [*others, last]
    said["calls"] = [] if is_fresh and not has_effects else calls_of(run_id)
    said["waits"] = [] if is_fresh else waits_of(run_id)
    return said


def _same(row: dict[str, Any], other: dict[str, Any]) -> bool:
    return (row["key"], row["generation"]) == (other["key"], other["generation"])
