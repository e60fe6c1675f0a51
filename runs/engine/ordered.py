"""What people have ordered for many runs: a duty of its own, so that no run that is held delays a takeover."""

import logging
import time
from collections.abc import Sequence
from functools import partial

from django.db import DataError, Error, IntegrityError

from runs.engine.rounds import Rounds, tried
from runs.ledger import selecting
from runs.queries import selections
from runs.queries.actors import actor_numbered

log = logging.getLogger(__name__)

DUTY = "selections"
ITEMS_A_PASS = 25
# Behind it the pass ends and is noted, however many runs somebody else holds.
LONGEST_TURN = 2.0
NOBODY = "Whoever ordered this has no account any more."


class Ordered(Rounds):
    """One run after another; one that is held, or cannot be moved, keeps no other from its turn."""

    duty = DUTY
    every = 0.25
    longest = 60.0

    def __init__(self) -> None:
        super().__init__()
        self._behind = 0

    def act(self) -> int:
        done, until = 0, time.monotonic() + LONGEST_TURN
        for item_id in self._next():
            # Before it is tried: whatever becomes of this pass, the next one begins behind it.
            self._behind = item_id
            done += bool(tried(partial(do_item, item_id), duty=DUTY, which=item_id))
            if time.monotonic() >= until:
                break
        return done

    def _next(self) -> Sequence[int]:
        """Behind the last one that was tried; at the end from the first one on again."""
        found = selections.items_due(at_most=ITEMS_A_PASS, behind=self._behind)
        if not found and self._behind:
            self._behind = 0
            found = selections.items_due(at_most=ITEMS_A_PASS)
        return found


def do_item(item_id: int) -> bool:
    """In the name of who ordered it, with the rights that they have now; False leaves it for later."""
    actor = actor_numbered(selections.who_ordered(item_id))
    if actor is None:
        return selecting.pass_by(item_id, NOBODY)
    try:
        return selecting.do(actor, item_id)
    except selecting.HeldElsewhere:
        log.info("selection.item_held", extra={"item": item_id})
        return False
    # The rim: one run that cannot be moved keeps no other from its turn, and says so itself.
    except Exception as error:
        if isinstance(error, Error) and not isinstance(error, (IntegrityError, DataError)):
            raise
        log.exception("selection.item_failed", extra={"item": item_id})
        # Its name alone: what an error says may hold what was sent, or what no column can keep.
        told = f"It could not be done ({type(error).__name__}); the log has the rest."
        return selecting.pass_by(item_id, told)
