"""Stop a run at its deadline, with what it has come to kept as a file."""

import hashlib
import json
import time
from uuid import UUID

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from runs.engine.session import Attempt, Session
from runs.ledger import limits
from runs.queries.limits import deadline_of
from runs.queries.progress import progress_of
from runs.rules.written import ArtifactStored


def ends_at(session: Session) -> float | None:
    """When the deadline of a claimed run is over, by this process's monotonic clock."""
    if session.plan.deadline is None:
        return None
    standing = deadline_of(session.fence.run_id)
    return None if standing is None else time.monotonic() + standing.left.total_seconds()


def stop_held(session: Session, attempt: Attempt) -> bool:
    """By the worker that holds it; False when the deadline was raised meanwhile."""
    progress = keep_progress(session.fence.run_id)
    return limits.stop_held(
        session.fence, place=attempt.place, written=session.written, progress=progress
    )


def stop_unheld(run_id: UUID) -> bool:
    """By the clockwork; False when the run has gone on or has time left."""
    return limits.stop_unheld(run_id, progress=keep_progress(run_id))


def keep_progress(run_id: UUID) -> ArtifactStored:
    """Write the document; whoever stops the run writes the row that names it.

    Named by the last event it knows of: a run that is stopped again keeps both documents.
    """
    progress = progress_of(run_id)
    content = json.dumps(progress, indent=2, ensure_ascii=False, default=str).encode()
    digest = hashlib.sha256(content).hexdigest()
    name = f"progress-{progress['events']}.json"
    path = f"{run_id}/{digest[:16]}-{name}"
    if not default_storage.exists(path):
        path = default_storage.save(path, ContentFile(content))
    return ArtifactStored(
        name=name, media_type="application/json", path=path, size=len(content), digest=digest
    )
