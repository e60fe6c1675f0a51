"""What a run has come to so far, as one document for whoever has to go on with it."""

from collections import Counter
from typing import Any
from uuid import UUID

from runs.models import Call, Checkpoint, Run
from runs.queries.audit_line import steps_of, waits_of
from runs.queries.limits import breaches_of

# Keys are shown up to here; how many there are, and the digest of all, is said in any case.
MOST_KEYS = 1_000


def progress_of(run_id: UUID) -> dict[str, Any]:
    """Steps with their outcomes and the digests of their facts, calls with their keys, counts."""
    run = Run.objects.get(pk=run_id)
    last = Checkpoint.objects.filter(run=run, number=run.checkpoint).first()
    return {
        "run": str(run.pk),
        "reference": run.reference,
        "workflow": run.workflow,
        "version": run.version,
        "plan_hash": run.plan_id,
        "state_before": run.state,
        "step": run.step,
        "steps_total": run.steps_total,
        "steps": steps_of(run_id),
        "checkpoint": _checkpoint(last) if last else None,
        "calls": _calls(run_id),
        "waits": waits_of(run_id),
        "limits": [each.body for each in breaches_of(run_id)],
        "events": run.seq,
        "head": run.head,
    }


def _checkpoint(last: Checkpoint) -> dict[str, Any]:
    return {
        "number": last.number,
        "step": last.step,
        "cursor": last.cursor_ordinal,
        "keys_count": last.keys_count,
        "keys_digest": last.keys_digest,
        "at": last.at.isoformat(),
    }


def _calls(run_id: UUID) -> dict[str, Any]:
    rows = Call.objects.filter(run_id=run_id).order_by("id")
    counted = Counter(rows.values_list("state", flat=True))
    named = rows.values("key", "step", "effect", "resource", "state", "sends")
    return {
        "count": sum(counted.values()),
        "by_state": dict(sorted(counted.items())),
        "shown": list(named[:MOST_KEYS]),
    }
