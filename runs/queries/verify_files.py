"""Whether the files of a run are there, with the bytes they had when they were kept."""

import hashlib
from collections.abc import Iterator

from django.core.files.storage import default_storage

from runs.models import Artifact
from runs.queries.verify_subject import Subject
from runs.rules.violations import Violation

PIECE = 1024 * 1024


def files_are_there(subject: Subject) -> Iterator[Violation]:
    for artifact in Artifact.objects.filter(run=subject.run).order_by("id"):
        if not default_storage.exists(artifact.path):
            yield subject.violates("I14", f"The file {artifact.name} of {artifact.step} is gone.")
        elif _digest(artifact.path) != artifact.digest:
            yield subject.violates(
                "I14", f"The file {artifact.name} of {artifact.step} is not what its digest covers."
            )


def _digest(path: str) -> str:
    running = hashlib.sha256()
    with default_storage.open(path, "rb") as file:
        while piece := file.read(PIECE):
            running.update(piece)
    return running.hexdigest()
