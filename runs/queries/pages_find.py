"""Where a run id, an idempotency key, a start key or a reference leads."""

from dataclasses import dataclass
from uuid import UUID

from runs.models import Call
from runs.queries.visibility import visible_runs, visible_to
from runs.rules.policy import Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    run_id: UUID
    step: str = ""


def find(actor: Actor, text: str) -> Found | None:
    """The one thing that this names exactly, or None."""
    runs = visible_runs(actor)
    try:
        return Found(run_id=UUID(text)) if runs.filter(pk=UUID(text)).exists() else None
    except ValueError:
        pass
    calls = visible_to(actor, Call.objects.filter(key=text), through="run__tenant_id")
    if call := calls.values_list("run_id", "step").first():
        return Found(run_id=call[0], step=call[1])
    named = list(runs.filter(reference=text).values_list("pk", flat=True)[:2])
    if len(named) != 1:
        named = list(runs.filter(start_key=text).values_list("pk", flat=True)[:2])
    return Found(run_id=named[0]) if len(named) == 1 else None
