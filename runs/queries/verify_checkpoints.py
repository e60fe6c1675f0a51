"""Whether the mileposts of a run follow each other and count what was done (I8, R39)."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from runs.models import Call, Checkpoint
from runs.queries.verify_subject import AT_ONCE, Subject
from runs.rules.planned import keys_digest
from runs.rules.violations import Violation


@dataclass(slots=True)
class Walk:
    """What has been seen up to a checkpoint."""

    number: int = 0
    plan: int = 0
    fence: int = 0
    keys_count: int = 0
    keys_digest: str = ""
    cursors: dict[tuple[str, int], int] = field(default_factory=dict)


def checkpoints_hold(subject: Subject) -> Iterator[Violation]:
    """Numbers without holes up to the run's own, cursors that never go back, keys that count up."""
    accepted, walk = _accepted_keys(subject), Walk()
    rows = Checkpoint.objects.filter(run=subject.run).order_by("number")
    for row in rows.iterator(chunk_size=AT_ONCE):
        yield from _place(subject, row, walk)
        yield from _plan(subject, row, walk)
        yield from _keys(subject, row, walk, sorted(accepted.pop(row.number, [])))
    if walk.number != subject.run.checkpoint:
        yield subject.violates(
            "I8",
            f"The run's row names checkpoint {subject.run.checkpoint}; the last is {walk.number}.",
        )
    if accepted:
        yield subject.violates(
            "I8", f"Calls name checkpoints that are not there: {sorted(accepted)}."
        )


def _accepted_keys(subject: Subject) -> dict[int, list[str]]:
    """The keys that each checkpoint accepted."""
    keys: dict[int, list[str]] = defaultdict(list)
    rows = Call.objects.filter(run=subject.run, checkpoint__isnull=False)
    for number, key in rows.values_list("checkpoint", "key").iterator(chunk_size=AT_ONCE):
        if number is not None:
            keys[number].append(key)
    return keys


def _place(subject: Subject, row: Checkpoint, walk: Walk) -> Iterator[Violation]:
    if row.number != walk.number + 1:
        yield subject.violates(
            "I8", f"Checkpoint {walk.number + 1} is missing before {row.number}."
        )
    if not walk.fence <= row.fence <= subject.run.fence:
        yield subject.violates(
            "I3", f"Checkpoint {row.number} has the fence {row.fence}, out of its order."
        )
    place = row.step, row.generation
    if row.cursor_ordinal < walk.cursors.get(place, 0):
        yield subject.violates(
            "I8", f"Checkpoint {row.number} takes the cursor of step {row.step} back."
        )
    walk.number, walk.fence = row.number, row.fence
    walk.cursors[place] = row.cursor_ordinal


def _plan(subject: Subject, row: Checkpoint, walk: Walk) -> Iterator[Violation]:
    # A run that was taken to another plan has them one after the other.
    plans = [(plan.hash, plan.version) for plan in subject.plans]
    while walk.plan < len(plans) and plans[walk.plan] != (row.plan_hash, row.version):
        walk.plan += 1
    if walk.plan == len(plans):
        walk.plan = 0
        yield subject.violates("I9", f"Checkpoint {row.number} was written under another plan.")
    if not row.finished:
        return
    result = next(
        (s for s in subject.steps if (s.key, s.generation) == (row.step, row.generation)), None
    )
    if result is None or result.facts_digest != row.output_digest:
        yield subject.violates(
            "I1", f"Checkpoint {row.number} names another result of step {row.step} than its row."
        )


def _keys(subject: Subject, row: Checkpoint, walk: Walk, keys: list[str]) -> Iterator[Violation]:
    if keys:
        walk.keys_count += len(keys)
        walk.keys_digest = keys_digest(walk.keys_digest, keys)
    if (row.keys_count, row.keys_digest) != (walk.keys_count, walk.keys_digest):
        yield subject.violates(
            "R39",
            f"Checkpoint {row.number} counts {row.keys_count} completed keys; the calls it and "
            f"those before it accepted are {walk.keys_count}, or their digest is another.",
        )
        # From here on as it says: one wrong count is told once.
        walk.keys_count, walk.keys_digest = row.keys_count, row.keys_digest
