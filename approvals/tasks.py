"""What the clockwork does for decisions: notices, rules, and batches in the name of who began them."""

from approvals.ledger import batching, noticing, ruling
from approvals.queries import alike, due
from runs.engine import clock_duties
from runs.engine.clock_duties import ClockDuty
from runs.queries.actors import actor_numbered

ITEMS_A_PASS = 25


def register_duties() -> None:
    """Called once, when Django is ready."""
    for duty in (
        ClockDuty(name="notices", due=due.notices_due, act=noticing.tell_due),
        ClockDuty(name="rules", due=due.rules_due, act=ruling.answer),
        ClockDuty(name="batches", due=some_items, act=answer_item),
    ):
        clock_duties.register(duty)


def some_items(*, at_most: int) -> list[int]:
    """Few enough that no other duty of the clockwork waits for long."""
    return due.batch_items_due(at_most=min(at_most, ITEMS_A_PASS))


def answer_item(item_id: int) -> bool:
    """With the rights that its person has now, not when they began."""
    actor = actor_numbered(alike.whose(item_id))
    if actor is None:
        return batching.pass_by(item_id, "refused", "Whoever began this has no account any more.")
    return batching.answer(actor, item_id)
