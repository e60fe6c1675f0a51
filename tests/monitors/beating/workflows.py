"""Runs with heartbeats, for real programs: one gets on until it is told to end, one only stays."""

import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from runs.definition import Heartbeat, Workflow, step

BEAT = Heartbeat(
    every=timedelta(seconds=1), grace=timedelta(seconds=2), progress=timedelta(seconds=3)
)
# However long it takes until another worker has it: that is no absence of the run.
LONG_BREATH = Heartbeat(
    every=timedelta(seconds=1), grace=timedelta(minutes=2), progress=timedelta(minutes=2)
)


class _GettingOn(Workflow, abstract=True):
    """Says how far it is until the file `end` is there."""

    class Input:
        end: str

    @step(reads=["end"], writes=["rounds"])
    def go(self, run: Any) -> None:
        rounds, end = 0, Path(run.read("end"))
        while not end.exists():
            time.sleep(0.1)
            rounds += 1
            run.progress(rounds)
        run.write("rounds", rounds)


class GetsOn(_GettingOn):
    """Beats and gets on; missed at once."""

    name, version = "gets_on", 1
    heartbeat = BEAT


class Outlives(_GettingOn):
    """Beats and gets on; missed by nobody while it changes hands."""

    name, version = "outlives", 1
    heartbeat = LONG_BREATH


class StandsStill(Workflow):
    """Is busy with nothing until the file `end` is there."""

    name, version = "stands_still", 1
    heartbeat = BEAT

    class Input:
        end: str

    @step(reads=["end"], writes=["stood"])
    def stay(self, run: Any) -> None:
        while not Path(run.read("end")).exists():
            time.sleep(0.1)
        run.write("stood", True)
