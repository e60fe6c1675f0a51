"""Wait for a run: look cheaply, show how far it is, say where to decide, come back at its end."""

import os
import time
from collections.abc import Callable
from typing import Any, Protocol
from uuid import UUID

from django.db import Error, connection
from django.urls import NoReverseMatch, reverse
from tqdm import tqdm

from runs.conf import site
from runs.queries import following
from runs.queries.following import Glance
from runs.rules.states import FINAL, RunState

LOOK_EVERY = 0.25
ENDS = FINAL | {RunState.FAILED}
# A run that stands in the queue for longer than this may lack a worker: say why it stands.
QUEUED_LONG = 5.0
LINE_EVERY = 5.0
USUAL_WIDTH, ROWS = 80, 20


class Show(Protocol):
    """Where the progress is seen."""

    def move(self, glance: Glance) -> None: ...

    def say(self, text: str) -> None: ...

    def close(self) -> None: ...


class Bar:
    """One bar for the whole run, in which the step's own progress counts."""

    def __init__(self, stream: Any, *, steps_total: int) -> None:
        self.stream = stream
        self.bar = tqdm(
            total=steps_total,
            file=stream,
            bar_format="{desc} |{bar}| {percentage:3.0f}% {elapsed}",
            leave=False,
            ncols=_width(stream),
            nrows=ROWS,
        )

    def move(self, glance: Glance) -> None:
        self.bar.set_description_str(_where(glance), refresh=False)
        self.bar.n = glance.steps_total * _share(glance)
        self.bar.refresh()

    def say(self, text: str) -> None:
        self.bar.write(text, file=self.stream)

    def close(self) -> None:
        self.bar.close()


def _width(stream: Any) -> int:
    """A terminal that does not know its width says 0, and a bar of that width is not seen."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH
    except OSError:
        return USUAL_WIDTH


class Lines:
    """A line for each step, and now and then one for its progress; for logs and pipes."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self.write, self._step, self._said, self._at = write, "", "", 0.0

    def move(self, glance: Glance) -> None:
        where, now = _where(glance), time.monotonic()
        new = glance.step != self._step
        if where != self._said and (new or now - self._at >= LINE_EVERY):
            self._step, self._said, self._at = glance.step, where, now
            self.write(where)

    def say(self, text: str) -> None:
        self.write(text)

    def close(self) -> None:
        """Every line has been written already."""


def _where(glance: Glance) -> str:
    done = f": {glance.done:,}" if glance.done else ""
    of = f" of {glance.total:,}" if done and glance.total else ""
    return f"step {glance.ordinal}/{glance.steps_total} {glance.step}{done}{of}"


def _share(glance: Glance) -> float:
    if glance.state is RunState.SUCCEEDED:
        return 1.0
    inside = min(glance.done / glance.total, 1.0) if glance.total else 0.0
    return (glance.ordinal - 1 + inside) / glance.steps_total


def wait_for(run_id: UUID, show: Show, *, until_parked: bool) -> Glance:
    """Until the run is final or has failed; with `until_parked` also until it asks somebody."""
    told, since = -1, time.monotonic()
    try:
        while True:
            glance = _look(run_id, show)
            show.move(glance)
            if glance.state in ENDS:
                return glance
            if glance.seq != told and _stands(glance, since):
                told = glance.seq
                if _tell(run_id, show) and until_parked:
                    return glance
            if glance.state is RunState.RUNNING:
                since = time.monotonic()
            time.sleep(LOOK_EVERY)
    finally:
        show.close()


def _look(run_id: UUID, show: Show) -> Glance:
    """A database that is away for a moment ends no waiting: the run does not depend on it."""
    complained = False
    while True:
        try:
            return following.glance_at(run_id)
        except Error as error:
            connection.close()
            if not complained:
                show.say(f"The database does not answer, still waiting: {error}")
            complained = True
            time.sleep(LOOK_EVERY * 4)


def _stands(glance: Glance, since: float) -> bool:
    if glance.state is RunState.QUEUED:
        return time.monotonic() - since > QUEUED_LONG
    return glance.state is not RunState.RUNNING


def _tell(run_id: UUID, show: Show) -> bool:
    """Why it stands and, where only a person can go on, where to decide; whether that is so."""
    why, wait_id = following.why_now(run_id), following.asks_somebody(run_id)
    due = f" ({why.next_at:%Y-%m-%d %H:%M:%S} UTC)" if why.next_at else ""
    show.say(f"{why.sentence} {why.next}{due}")
    if wait_id is None:
        return False
    show.say(f"Decide at {where_to_decide(run_id, wait_id)}")
    show.say("or with: manage.py decisions list")
    return True


def where_to_decide(run_id: UUID, wait_id: int) -> str:
    """The address of the question, else of the run that asks it."""
    try:
        return site() + reverse("approvals:decision_of_wait", args=[wait_id])
    except NoReverseMatch:
        return site() + reverse("runs:run_show", args=[run_id])
