"""The release that is there first."""

from runs.definition import Run, Workflow, step


class Order(Workflow):
    """Take an order, wait for its payment, tell of it."""

    name, version = "deployed_order", 1

    class Input:
        order: str

    @step(reads=["order"], writes=["amount"])
    def take(self, run: Run) -> None:
        run.read("order")
        run.write("amount", 100)

    @step(reads=["order"], writes=["paid"])
    def collect(self, run: Run) -> None:
        run.wait_for("paid", correlation_id=str(run.read("order")))
        run.write("paid", True)

    @step(reads=["amount"], writes=["told"])
    def tell(self, run: Run) -> None:
        run.write("told", run.read("amount"))
