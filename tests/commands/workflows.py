"""Small workflows for commands to start: one that ends, one that asks, waits, sleeps, fails."""

from datetime import timedelta
from typing import Any

from runs.definition import Retry, Workflow, registry, step


class _Count(Workflow, abstract=True):
    class Input:
        upto: int = 3
        name: str = "ann"

    @step(reads=["upto"], writes=["counted"])
    def count(self, run: Any) -> None:
        run.progress(run.read("upto"), run.read("upto"))
        run.write("counted", run.read("upto"))

    @step(reads=["counted", "name"], writes=["greeting"])
    def greet(self, run: Any) -> None:
        run.write("greeting", f"{run.read('counted')} for {run.read('name')}")


def made() -> list[type[Workflow]]:
    """Declared on a shelf of their own, so that importing this module registers nothing."""
    with registry.isolated():

        class Count(_Count):
            """Counts, then greets."""

            name, version = "count", 1

        class Count2(_Count):
            name, version = "count", 2

        class Ask(Workflow):
            name, version = "ask", 1

            @step(writes=["colour"])
            def paint(self, run: Any) -> None:
                answer = run.ask("colour", question="Which colour?", options=("red", "blue"))
                run.write("colour", answer["option"])

        class Await(Workflow):
            name, version = "await", 1

            @step(writes=["payload"])
            def wait(self, run: Any) -> None:
                run.write("payload", run.wait_for("order.paid", correlation_id="7"))

        class Nap(Workflow):
            name, version = "nap", 1

            @step(writes=["rested"])
            def sleep(self, run: Any) -> None:
                run.sleep("an hour", timedelta(hours=1))
                run.write("rested", True)

        class Fail(Workflow):
            name, version = "fail", 1

            @step(writes=["nothing"], retry=Retry(attempts=1), on_exhausted="stop")
            def fail(self, run: Any) -> None:
                raise RuntimeError("out of paper")

    return [Count, Count2, Ask, Await, Nap, Fail]
