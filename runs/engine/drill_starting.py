"""A drill begun from a page: a program of its own, which outlives whoever began it."""

import subprocess
import sys
from pathlib import Path
from uuid import UUID

from django.conf import settings

from runs.definition import registry
from runs.ledger import drills
from runs.queries.drills import why_no_drill
from runs.rules.policy import Actor


class NotDrillable(Exception):
    """The workflow cannot be drilled as it stands here; the message says what it lacks."""


def start(actor: Actor, workflow: str, *, tenant: str, matrix: bool = False) -> UUID:
    """Say that it is under way, then begin it; should this die between, nobody hears of it again."""
    if refusal := why_no_drill(registry.latest(workflow)):
        raise NotDrillable(refusal)
    words = ["drill", workflow, *(["--matrix"] if matrix else [])]
    command = " ".join(words)
    drill_id = drills.begin(
        actor, workflow=workflow, command=command, from_page=True, tenant=tenant
    )
    try:
        launch([*words, "--as", actor.name, "--tenant", tenant, "--begun", str(drill_id)])
    except OSError:
        drills.let_go(drill_id)
        raise
    return drill_id


def launch(words: list[str]) -> None:
    """In a session of its own, so that what stops the pages does not stop it."""
    log = Path(settings.VAR_DIR) / "drill.log"
    with log.open("wb") as said:
        subprocess.Popen(  # noqa: S603 - our own manage.py
            [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), *words],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
