"""What people have ordered for many at once: a child of the watch a kind, so that none that is held delays a takeover."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from django.db import DataError, Error, IntegrityError

from runs.engine.rounds import Rounds, tried
from runs.ledger import selecting
from runs.ledger.briefly import HeldElsewhere
from runs.queries import selections
from runs.queries.actors import actor_numbered
from runs.rules.policy import Actor

log = logging.getLogger(__name__)

ITEMS_A_PASS = 25
# Behind it the pass ends and is noted, however many items somebody else holds.
LONGEST_TURN = 2.0
NOBODY = "Whoever ordered this has no account any more."


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """One kind: `due(at_most=, behind=)` names the items that are left, by id, the oldest first.

    `do` raises HeldElsewhere for one that is left for later; `pass_by` says why one is not done at all.
    """

    duty: str
    due: Callable[..., Sequence[int]]
    whose: Callable[[int], int | None]
    do: Callable[[Actor, int], bool]
    pass_by: Callable[[int, str], bool]


SELECTIONS = Orders(
    duty="selections",
    due=selections.items_due,
    whose=selections.who_ordered,
    do=selecting.do,
    pass_by=selecting.pass_by,
)


class Ordered(Rounds):
    """One item after another; one that is held, or cannot be done, keeps no other from its turn."""

    every = 0.25
    longest = 60.0

    def __init__(self, orders: Orders) -> None:
        super().__init__()
        self.duty, self._orders, self._behind = orders.duty, orders, 0

    def act(self) -> int:
        done, until = 0, time.monotonic() + LONGEST_TURN
        for item_id in self._next():
            # Before it is tried: whatever becomes of this pass, the next one begins behind it.
            self._behind = item_id
            doing = partial(do_item, self._orders, item_id)
            done += bool(tried(doing, duty=self.duty, which=item_id))
            if time.monotonic() >= until:
                break
        return done

    def _next(self) -> Sequence[int]:
        """Behind the last one that was tried; at the end from the first one on again."""
        found = self._orders.due(at_most=ITEMS_A_PASS, behind=self._behind)
        if not found and self._behind:
            self._behind = 0
            found = self._orders.due(at_most=ITEMS_A_PASS, behind=0)
        return found


def do_item(orders: Orders, item_id: int) -> bool:
    """In the name of who ordered it, with the rights that they have now; False leaves it for later."""
    actor = actor_numbered(orders.whose(item_id))
    if actor is None:
        return orders.pass_by(item_id, NOBODY)
    told = {"duty": orders.duty, "item": item_id}
    try:
        return orders.do(actor, item_id)
    except HeldElsewhere:
        log.info("ordered.item_held", extra=told)
        return False
    # The rim: one item that cannot be done keeps no other from its turn, and says so itself.
    except Exception as error:
        if isinstance(error, Error) and not isinstance(error, (IntegrityError, DataError)):
            raise
        log.exception("ordered.item_failed", extra=told)
        # Its name alone: what an error says may hold what was sent, or what no column can keep.
        why = f"It could not be done ({type(error).__name__}); the log has the rest."
        return orders.pass_by(item_id, why)
