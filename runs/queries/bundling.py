"""Everything that is known of a run, for the file that it is taken away in."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import IO, Any
from uuid import UUID

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Model, QuerySet

from runs.models import (
    Artifact,
    Assignment,
    AuditEvent,
    Call,
    Checkpoint,
    Event,
    Judgement,
    LogLine,
    Note,
    Plan,
    PlannedCall,
    Replay,
    Run,
    Step,
    Wait,
)
from runs.rules.bundle import PIECE, Packer
from runs.rules.chain import instant

Rows = Iterable[dict[str, Any]]
Source = Callable[[UUID], Rows]
AT_ONCE = 1000
LOOKS = 5
BY_ID = ("pk",)
# In the order in which the closing line names steps.
BY_ORDER = ("generation", "ordinal")
PARTS: dict[str, tuple[type[Model], tuple[str, ...]]] = {
    "steps.jsonl": (Step, BY_ORDER),
    "checkpoints.jsonl": (Checkpoint, BY_ID),
    "calls.jsonl": (Call, BY_ID),
    "planned_calls.jsonl": (PlannedCall, BY_ID),
    "judgements.jsonl": (Judgement, BY_ID),
    "waits.jsonl": (Wait, BY_ID),
    "assignments.jsonl": (Assignment, BY_ID),
    "replays.jsonl": (Replay, BY_ID),
    "log.jsonl": (LogLine, BY_ID),
    "notes.jsonl": (Note, BY_ID),
    "audit.jsonl": (AuditEvent, ("seq",)),
}
_of_other_apps: dict[str, Source] = {}


def register(part: str, source: Source) -> None:
    """Let another app put a part of its own into every bundle: one JSON value a line."""
    _of_other_apps[part] = source


def bundle(run: Run, file: IO[bytes], *, by: str, now: datetime) -> str:
    """Write all of it; the seal. A run that moves meanwhile is looked at again, then held still."""
    for _ in range(LOOKS):
        seal = _written(run.pk, file, by=by, now=now)
        if _unmoved(run):
            return seal
        run.refresh_from_db()
    with transaction.atomic():
        # NO KEY, as everywhere: a plain lock would block inserts that refer to the run (R18).
        Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        return _written(run.pk, file, by=by, now=now)


def _unmoved(run: Run) -> bool:
    return Run.objects.filter(pk=run.pk, seq=run.seq, updated_at=run.updated_at).exists()


def _written(run_id: UUID, file: IO[bytes], *, by: str, now: datetime) -> str:
    file.seek(0)
    file.truncate()
    run = Run.objects.get(pk=run_id)
    packer = Packer(file)
    packer.lines("run.jsonl", rows(Run.objects.filter(pk=run_id)))
    packer.lines("plan.jsonl", rows(Plan.objects.filter(pk=run.plan_id)))
    for part, (model, order) in PARTS.items():
        packer.lines(part, rows(model._default_manager.filter(run_id=run_id).order_by(*order)))
    packer.lines("events.jsonl", rows(Event.objects.filter(used_by__run_id=run_id).order_by("pk")))
    for part, source in _of_other_apps.items():
        packer.lines(part, source(run_id))
    _files(packer, run_id)
    about = {"run": str(run_id), "reference": run.reference, "workflow": run.workflow}
    told = {"state": run.state, "head": run.head, "exported_at": instant(now), "exported_by": by}
    return packer.seal(about | told)


def rows(found: QuerySet[Any]) -> Iterator[dict[str, Any]]:
    """Rows as they are stored, in JSON: times to the microsecond, ids as text."""
    for row in found.values().iterator(chunk_size=AT_ONCE):
        yield {name: _plain(said) for name, said in row.items()}


def _plain(said: Any) -> Any:
    if isinstance(said, datetime):
        return instant(said)
    return str(said) if isinstance(said, UUID) else said


def _files(packer: Packer, run_id: UUID) -> None:
    """The steps' files and what is known of them; one that is gone is named without its bytes."""
    told = []
    for artifact in Artifact.objects.filter(run_id=run_id).order_by("pk"):
        there = default_storage.exists(artifact.path)
        part = f"files/{artifact.pk}" if there else ""
        if there:
            packer.file(part, _pieces(artifact.path))
        (row,) = rows(Artifact.objects.filter(pk=artifact.pk))
        told.append(row | {"part": part})
    packer.lines("files.jsonl", told)


def _pieces(path: str) -> Iterator[bytes]:
    with default_storage.open(path, "rb") as file:
        while piece := file.read(PIECE):
            yield piece
