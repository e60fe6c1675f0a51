"""What people have ordered for many runs is done in the background, one run after another."""

import logging

from django.db import DataError, Error, IntegrityError

from runs.engine import clock_duties
from runs.engine.clock_duties import ClockDuty
from runs.ledger import selecting
from runs.queries import selections
from runs.queries.actors import actor_numbered

log = logging.getLogger(__name__)

ITEMS_A_PASS = 25
NOBODY = "Whoever ordered this has no account any more."


def register_duty() -> None:
    """Called once, when Django is ready."""
    clock_duties.register(ClockDuty(name="selections", due=some_items, act=do_item))


def some_items(*, at_most: int) -> list[int]:
    """Few enough that no other duty of the clockwork waits for long."""
    return selections.items_due(at_most=min(at_most, ITEMS_A_PASS))


def do_item(item_id: int) -> bool:
    """In the name of who ordered it, with the rights that they have now."""
    actor = actor_numbered(selections.who_ordered(item_id))
    if actor is None:
        return selecting.pass_by(item_id, NOBODY)
    try:
        return selecting.do(actor, item_id)
    # The rim: one run that cannot be moved keeps no other from its turn, and says so itself.
    except Exception as error:
        if isinstance(error, Error) and not isinstance(error, (IntegrityError, DataError)):
            raise
        log.exception("selection.item_failed", extra={"item": item_id})
        return selecting.pass_by(item_id, f"It could not be done: {type(error).__name__}: {error}")
