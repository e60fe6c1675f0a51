"""What the watch does for decisions: notices and rules by its clockwork, batches by a child of their own."""

from collections.abc import Callable

from approvals.ledger import batching, noticing, ruling
from approvals.queries import alike, due
from runs.engine import clock_duties, duties
from runs.engine.clock_duties import ClockDuty
from runs.engine.ordered import Ordered, Orders
from runs.engine.rounds import MustEnd

BATCHES = Orders(
    duty="batches",
    due=due.batch_items_due,
    whose=alike.whose,
    do=batching.answer,
    pass_by=batching.pass_by,
)


def register_duties() -> None:
    """Called once, when Django is ready."""
    for duty in (
        ClockDuty(name="notices", due=due.notices_due, act=noticing.tell_due),
        ClockDuty(name="rules", due=due.rules_due, act=ruling.answer),
    ):
        clock_duties.register(duty)
    duties.register(BATCHES.duty, _batches)


def _batches(*, stopped: Callable[[], bool], must_end: MustEnd) -> None:
    Ordered(BATCHES).run(stopped=stopped, must_end=must_end)
