"""The files of a run, found by whoever may see the run."""

from typing import IO, Any
from uuid import UUID

from django.core.files.storage import default_storage

from runs.models import Artifact
from runs.queries.visibility import visible_to
from runs.rules.policy import Actor


def artifact(actor: Actor, run_id: UUID, artifact_id: int) -> Artifact | None:
    rows = Artifact.objects.filter(pk=artifact_id, run_id=run_id)
    found = visible_to(actor, rows, through="run__tenant_id").first()
    return found if found and default_storage.exists(found.path) else None


def opened(found: Artifact) -> IO[Any]:
    return default_storage.open(found.path)
