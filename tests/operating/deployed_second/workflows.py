"""The release that follows: amounts are in cents, and an order is checked before it is told of."""

from typing import Any

from runs.definition import Migrated, Position, Run, Workflow, step


def to_v2(facts: dict[str, Any], at: Position) -> Migrated:
    """The same order, its amount in cents."""
    cents = {"cents": facts.pop("amount") * 100}
    return Migrated(facts=facts | cents, at=at)


class Order(Workflow):
    """Take an order, wait for its payment, check it, tell of it."""

    name, version = "deployed_order", 2
    migrations = {1: to_v2}

    class Input:
        order: str

    @step(reads=["order"], writes=["cents"])
    def take(self, run: Run) -> None:
        run.read("order")
        run.write("cents", 10_000)

    @step(reads=["order"], writes=["paid"])
    def collect(self, run: Run) -> None:
        run.wait_for("paid", correlation_id=str(run.read("order")))
        run.write("paid", True)

    @step(reads=["paid"], writes=["checked"])
    def check(self, run: Run) -> None:
        run.write("checked", run.read("paid"))

    @step(reads=["cents"], writes=["told"])
    def tell(self, run: Run) -> None:
        run.write("told", run.read("cents"))
