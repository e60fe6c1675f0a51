"""Workflows to schedule in real programs: one is done at once, one stays for a while."""

import time
from datetime import timedelta
from typing import Any

from runs.definition import Heartbeat, Workflow, step


class Blink(Workflow):
    """Done at once."""

    name, version = "blink", 1
    heartbeat = Heartbeat(every=timedelta(seconds=30), grace=timedelta(minutes=2))

    @step(writes=["out"])
    def go(self, run: Any) -> None:
        run.write("out", 1)


class Lingers(Workflow):
    """Stays in its first step for a while, then has a second one."""

    name, version = "lingers", 1
    heartbeat = Heartbeat(every=timedelta(seconds=30), grace=timedelta(minutes=2))

    class Input:
        seconds: float = 1.5

    @step(reads=["seconds"], writes=["stayed"])
    def stay(self, run: Any) -> None:
        time.sleep(run.read("seconds"))
        run.write("stayed", True)

    @step(reads=["stayed"], writes=["left"])
    def leave(self, run: Any) -> None:
        run.write("left", True)
