"""Parking until a person, an event or the clock says go on."""

import time
from datetime import timedelta
from typing import Annotated

from runs.definition import Run, Workflow, step
from runs.examples.verbs.marks import Marks, Pause, leave_a_mark_if_told


class ExampleAsk(Workflow):
    """Asks a person and goes on with the answer."""

    name, version = "example_ask", 1

    class Input:
        question: str = "Shall it go on?"
        folder: Marks = ""
        pause: Pause = 0.0

    @step(reads=["question", "folder", "pause"], writes=["answer"])
    def ask(self, run: Run) -> None:
        """The run parks here; the worker is free until somebody has answered."""
        leave_a_mark_if_told(run, "asked")
        answer = run.ask(
            "go_on",
            question=run.read("question"),
            options=("yes", "no"),
            evidence={"asked_by": run.reference},
        )
        time.sleep(run.read("pause"))
        run.write("answer", answer["option"])


class ExampleEvent(Workflow):
    """Waits for an event from outside and goes on with its payload."""

    name, version = "example_event", 1

    class Input:
        order: Annotated[str, "The event must name this order."]
        folder: Marks = ""
        patience: Annotated[float, "Seconds to wait at most."] = 3600.0
        pause: Pause = 0.0

    @step(reads=["order", "folder", "patience", "pause"], writes=["payload"])
    def wait(self, run: Run) -> None:
        """An event that came before the wait is not missed."""
        leave_a_mark_if_told(run, "waited")
        time.sleep(run.read("pause"))
        payload = run.wait_for(
            "order.paid",
            correlation_id=run.read("order"),
            expires=timedelta(seconds=run.read("patience")),
        )
        run.write("payload", payload)


class ExampleSleep(Workflow):
    """Sleeps without holding a worker."""

    name, version = "example_sleep", 1

    class Input:
        seconds: float = 0.5
        folder: Marks = ""
        pause: Pause = 0.0

    @step(reads=["seconds", "folder", "pause"], writes=["slept"])
    def sleep(self, run: Run) -> None:
        """The body is entered again when the time has come."""
        leave_a_mark_if_told(run, "slept")
        run.sleep("a_while", timedelta(seconds=run.read("seconds")))
        time.sleep(run.read("pause"))
        run.write("slept", run.read("seconds"))
