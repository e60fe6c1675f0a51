"""Lists of planned calls go along to another plan, sealed anew over what their effects promise now."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from runs.models import PlannedCall, Run
from runs.rules.carrying import Carry
from runs.rules.planned import call_digest, list_digest

BATCH = 500


def copy_lists(
    run: Run, carry: Carry, sources: Collection[tuple[str, int]]
) -> dict[str, dict[str, Any]]:
    """Copy the lists of steps that are written anew; the new fact of each one that is whole.

    An approval names the digest of its list, so one of an effect that was changed is void (R4).
    """
    sealed = {}
    for name, step, generation in _lists(run, carry, sources):
        rows = list(_copies(run, carry, name, step, generation))
        PlannedCall.objects.bulk_create(rows, batch_size=BATCH)
        sealed[name] = {"count": len(rows), "digest": list_digest(row.digest for row in rows)}
    return sealed


def _lists(
    run: Run, carry: Carry, sources: Collection[tuple[str, int]]
) -> Iterator[tuple[str, str, int]]:
    made = PlannedCall.objects.filter(run=run, generation__lt=run.generation).order_by()
    wanted = {name for carried in carry.carried for name in carried.facts}
    if carry.same_step:
        wanted |= set(carry.at.writes)
    for name, step, generation in made.values_list("plan", "step", "generation").distinct():
        if (step, generation) in sources and name in wanted:
            yield name, step, generation


def _copies(run: Run, carry: Carry, name: str, step: str, generation: int) -> Iterator[PlannedCall]:
    fingerprints = carry.plan.fingerprints
    writer = _writer(carry, name, step)
    rows = PlannedCall.objects.filter(run=run, plan=name, step=step, generation=generation)
    for row in rows.order_by("ordinal").iterator(chunk_size=BATCH):
        row.pk, row.step, row.generation, row.fence = None, writer, run.generation, run.fence
        row.digest = call_digest(
            effect=row.effect,
            fingerprint=fingerprints.get(row.effect, ""),
            resource=row.resource,
            request=row.request,
            evidence=row.evidence,
        )
        row._state.adding = True
        yield row


def _writer(carry: Carry, name: str, before: str) -> str:
    steps: Sequence[Any] = carry.plan.steps
    return next((step.key for step in steps if name in step.writes), before)
