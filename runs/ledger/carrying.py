"""The rows of a run that goes over to another plan: superseded, written anew, checkpointed."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from runs.conf import CHECKPOINT_SCHEMA
from runs.ledger import resealing
from runs.models import Call, Checkpoint, Replay, Run, Step, Wait
from runs.rules import canonical
from runs.rules.carrying import Carry
from runs.rules.states import StepState


def new_generation(
    run: Run, carry: Carry, rows: Sequence[Step], because: str, by: str, *, now: datetime
) -> dict[str, dict[str, Any]]:
    """Rows that the new plan names otherwise are superseded, and written anew; their facts."""
    old = next(row for row in rows if row.key == run.step)
    run.generation += 1
    Replay.objects.create(
        tenant_id=run.tenant_id,
        run=run,
        generation=run.generation,
        checkpoint=_kept_behind(run, rows[: carry.kept]),
        step=carry.carried[0].step.key if carry.carried else carry.at.key,
        ordinal=carry.kept + 1,
        by=by,
        because=because,
        at=now,
    )
    Run.objects.filter(pk=run.pk).update(generation=run.generation)
    sources = [(row.key, row.generation) for row in rows]
    _supersede(run, carry.kept, now=now)
    resealed = resealing.copy_lists(run, carry, sources)
    facts = {}
    for carried in carry.carried:
        if carried.skipped:
            _skipped_row(run, carried.step, now=now)
            continue
        facts[carried.step.key] = {
            name: resealed.get(name, value) for name, value in carried.facts.items()
        }
        _carried_row(run, carried.step, facts[carried.step.key], now=now)
    _row_at(run, carry, old)
    return facts


def _kept_behind(run: Run, kept: Sequence[Step]) -> int:
    """The checkpoint of the last one that was finished; a skipped one has none."""
    finished = [step for step in kept if step.state == StepState.SUCCEEDED]
    if not finished:
        return 0
    last = finished[-1]
    rows = Checkpoint.objects.filter(
        run=run, step=last.key, generation=last.generation, finished=True
    )
    return rows.values_list("number", flat=True).first() or 0


def _supersede(run: Run, kept: int, *, now: datetime) -> None:
    rows = Step.objects.filter(run=run, superseded=False, ordinal__gt=kept)
    done = (StepState.SUCCEEDED.value, StepState.FAILED.value)
    rows.exclude(state__in=done).update(
        superseded=True, state=StepState.SKIPPED.value, ended_at=now, fence=run.fence
    )
    rows.filter(state__in=done).update(superseded=True, fence=run.fence)


def _carried_row(run: Run, step: Any, facts: dict[str, Any], *, now: datetime) -> None:
    text = canonical.dumps(facts)
    kept = {"facts": text, "facts_digest": canonical.digest(text), "ended_at": now}
    _row(run, step, state=StepState.SUCCEEDED.value, **kept)


def _row(run: Run, step: Any, **more: Any) -> None:
    """A step of the new plan, in the generation that has just begun."""
    Step.objects.create(
        run=run,
        key=step.key,
        scope=step.scope,
        ordinal=step.ordinal,
        generation=run.generation,
        fence=run.fence,
        **more,
    )


def _skipped_row(run: Run, step: Any, *, now: datetime) -> None:
    """What a person has passed over stays passed over."""
    _row(run, step, state=StepState.SKIPPED.value, ended_at=now)


def _row_at(run: Run, carry: Carry, old: Step) -> None:
    """The step it goes on at; what it has begun there goes with it where it is the same step."""
    kept = {"attempt": old.attempt, "failures": old.failures, "crashes": old.crashes}
    _row(
        run,
        carry.at,
        cursor_ordinal=carry.cursor.ordinal,
        cursor_token=carry.cursor.token,
        **(kept if carry.same_step else {}),
    )
    if not carry.same_step:
        return
    waits = Wait.objects.filter(run=run, step=old.key, generation=old.generation)
    if not carry.same_effects:
        # Each call that was approved alone is asked about again: it promises something else now (R4).
        waits = waits.exclude(name__startswith="call ")
    waits.update(step=carry.at.key, generation=run.generation, fence=run.fence)
    if carry.cursor.ordinal:
        # Calls of the pages that are kept are named by nobody again, and stand all the same (R2).
        Call.objects.filter(run=run, scope=carry.at.scope, checkpoint__isnull=False).update(
            generation=run.generation, fence=run.fence
        )


def checkpoints(run: Run, carry: Carry, facts: dict[str, dict[str, Any]], *, now: datetime) -> int:
    """One for each step that was carried, and one for where the run goes on."""
    last = Checkpoint.objects.filter(run=run).order_by("-number").first()
    common = {
        "run": run,
        "generation": run.generation,
        "plan_hash": carry.plan.hash,
        "version": carry.plan.version,
        "schema": CHECKPOINT_SCHEMA,
        "fence": run.fence,
        "keys_count": last.keys_count if last else 0,
        "keys_digest": last.keys_digest if last else "",
        "at": now,
    }
    number = run.checkpoint
    for key, written in facts.items():
        number += 1
        digest = canonical.digest(canonical.dumps(written))
        Checkpoint.objects.create(
            **common, number=number, step=key, finished=True, output_digest=digest
        )
    here = Step.objects.get(run=run, key=carry.at.key, superseded=False)
    Checkpoint.objects.create(
        **{**common, "generation": here.generation},
        number=number + 1,
        step=carry.at.key,
        finished=False,
        cursor_ordinal=carry.cursor.ordinal,
        cursor_token=carry.cursor.token,
        output_digest=last.output_digest if last else "",
    )
    return number + 1
