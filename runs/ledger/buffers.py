"""Store what a step's body has made, inside the commit that accepts it."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db.models import F

from runs.models import Artifact, Call, Judgement, LogLine, PlannedCall
from runs.rules.fence import Fence
from runs.rules.written import StepPlace, Written

BATCH = 500


def store(fence: Fence, place: StepPlace, written: Written, *, now: datetime) -> None:
    """Write the whole buffer under a fence that the transaction already holds."""
    store_judgements(fence, place, written, now=now)
    common = _common(fence, place)
    PlannedCall.objects.bulk_create(
        [
            PlannedCall(
                **common,
                plan=call.plan,
                ordinal=call.ordinal,
                effect=call.effect,
                resource=call.resource,
                request=call.request,
                request_digest=call.request_digest,
                evidence=call.evidence,
                digest=call.digest,
            )
            for call in written.planned
        ],
        batch_size=BATCH,
    )
    _store_artifacts(common, written, now=now)
    store_lines(fence, place, written, now=now)


def store_what_stays(
    fence: Fence, place: StepPlace, written: Written, *, with_artifacts: bool, now: datetime
) -> None:
    """What is kept although no checkpoint accepts the attempt: judgements, lines, shown artifacts."""
    store_judgements(fence, place, written, now=now)
    if with_artifacts:
        _store_artifacts(_common(fence, place), written, now=now)
    store_lines(fence, place, written, now=now)


def store_judgements(fence: Fence, place: StepPlace, written: Written, *, now: datetime) -> None:
    """Judgements alone: an intent's commit carries those made so far in the attempt (R2)."""
    Judgement.objects.bulk_create(
        [
            Judgement(
                **_common(fence, place),
                scope=place.scope,
                input_hash=made.input_hash,
                question=made.question,
                by=made.by,
                answer=made.answer,
                cost=made.cost,
                at=now,
            )
            for made in written.judgements
        ],
        batch_size=BATCH,
        # A commit whose answer was lost may have stored them already.
        ignore_conflicts=True,
    )


def store_lines(fence: Fence, place: StepPlace, written: Written, *, now: datetime) -> None:
    """Log lines alone: they are kept even when the attempt fails."""
    LogLine.objects.bulk_create(
        [
            LogLine(
                **_common(fence, place),
                attempt=place.attempt,
                level=line.level,
                message=line.message,
                fields=line.fields,
                at=now,
            )
            for line in written.lines
        ],
        batch_size=BATCH,
    )


def accept_calls(fence: Fence, place: StepPlace, written: Written, *, checkpoint: int) -> None:
    """Mark the calls that the finishing attempt named as accepted by this checkpoint (R2)."""
    for keys in _batches(written.accepted_keys):
        Call.objects.filter(run_id=fence.run_id, key__in=keys, checkpoint=None).update(
            checkpoint=checkpoint, fence=fence.number
        )
    for keys in _batches(written.reused_keys):
        Call.objects.filter(run_id=fence.run_id, key__in=keys).update(
            reused=F("reused") + 1, fence=fence.number
        )
    if place.generation > 1:
        # A later attempt of this generation has to know that they were named in it (R2).
        for keys in _batches([*written.accepted_keys, *written.kept_keys]):
            Call.objects.filter(run_id=fence.run_id, key__in=keys).update(
                generation=place.generation, fence=fence.number
            )


def _store_artifacts(common: dict[str, Any], written: Written, *, now: datetime) -> None:
    for stored in written.artifacts:
        Artifact.objects.update_or_create(
            run_id=common["run_id"],
            step=common["step"],
            generation=common["generation"],
            name=stored.name,
            defaults={
                "media_type": stored.media_type,
                "path": stored.path,
                "size": stored.size,
                "digest": stored.digest,
                "fence": common["fence"],
                "at": now,
            },
        )


def _common(fence: Fence, place: StepPlace) -> dict[str, Any]:
    return {
        "run_id": fence.run_id,
        "step": place.key,
        "generation": place.generation,
        "fence": fence.number,
    }


def _batches(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), BATCH):
        yield keys[start : start + BATCH]
