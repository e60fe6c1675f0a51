"""Write a run's bundle to a file, whole or not at all."""

import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

from runs.management.given import Misused
from runs.queries.bundling import bundle
from runs.queries.clock import db_now
from runs.rules.bundle import opened
from runs.rules.policy import Actor, Verb, require

if TYPE_CHECKING:
    from runs.models import Run


def export(actor: Actor, run: "Run", to: Path) -> dict[str, Any]:
    """Raises NotAllowed, Misused. A bundle holds payloads in clear, so it takes that permission."""
    require(actor, Verb.VIEW_PAYLOADS)
    if not to.resolve().parent.is_dir():
        raise Misused(f"There is no folder {to.resolve().parent}.")
    with NamedTemporaryFile(dir=to.resolve().parent, suffix=".part", delete=False) as file:
        try:
            seal = bundle(run, file, by=actor.name, now=db_now())
        except BaseException:
            Path(file.name).unlink()
            raise
    os.replace(file.name, to)  # noqa: PTH105 - one step, also over a file that is there
    told = opened(to)
    with told.file:
        return {**told.about, "file": str(to), "sha256": seal}
