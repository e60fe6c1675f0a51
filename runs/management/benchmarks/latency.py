"""From the commit of a start, and of an answer, to the step's start, with idle processes."""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from runs.dispatch.tethered import die_with_parent
from runs.ledger import lifecycle, waking
from runs.queries import latency as stored
from runs.rules.policy import local_operator

WORKFLOW = "example_ask"
PATIENCE = 60.0


def measure(*, runs: int, scratch: Path) -> dict[str, Any]:
    """Medians and maxima in seconds, from the database's own times of commit and of start.

    A run is started, parks for a person, and is answered; each time only after everything idles.
    Nothing is kept in `scratch`: the figures are the database's own.
    """
    with _cluster():
        _one()
        samples = [_one() for _ in range(runs)]
    starts = [start for start, _ in samples]
    answers = [answer for _, answer in samples]
    return {
        "start_median": round(statistics.median(starts), 4),
        "start_max": round(max(starts), 4),
        "answer_median": round(statistics.median(answers), 4),
        "answer_max": round(max(answers), 4),
    }


@contextmanager
def _cluster() -> Iterator[None]:
    manage = str(Path(settings.BASE_DIR) / "manage.py")
    process = subprocess.Popen(  # noqa: S603 - our own manage.py
        [sys.executable, manage, "cluster", "--workers", "2"],
        stderr=subprocess.DEVNULL,
        preexec_fn=die_with_parent(),
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


def _one() -> tuple[float, float]:
    started = lifecycle.start(local_operator("bench"), workflow=WORKFLOW, data={})
    _until(started.id, "waiting")
    wait_id = stored.open_wait(started.id)
    with transaction.atomic():
        waking.answer(wait_id, answer={"option": "yes", "fields": {}}, by="bench")
    _until(started.id, "succeeded")
    return stored.seconds_to_start(started.id)


def _until(run_id: UUID, state: str) -> None:
    until = time.monotonic() + PATIENCE
    while (seen := stored.state_of(run_id)) != state:
        if time.monotonic() > until:
            raise RuntimeError(f"Run {run_id} is {seen} and not {state} after {PATIENCE:.0f} s.")
        time.sleep(0.02)
