"""Fires what is due: a duty of its own beside the clockwork, so that it never delays a takeover."""

import time
from functools import partial

from runs.engine.rounds import Rounds, tried
from runs.ledger import firings
from runs.queries import schedules

AT_ONCE = 100
# One schedule with thousands of missed times does not keep the others waiting.
LONGEST_TURN = 1.0
DUTY = "schedules"


class Firing(Rounds):
    """What is wrong with one schedule does not stop the others; after a jump of the clock none fires."""

    duty = DUTY
    every = 0.25
    longest = AT_ONCE * LONGEST_TURN + 60.0

    def act(self) -> int:
        decided = 0
        for schedule_id in schedules.with_a_queued_firing(at_most=AT_ONCE):
            queued = partial(firings.start_queued, schedule_id)
            decided += tried(queued, duty=DUTY, which=schedule_id) or 0
        for schedule_id in schedules.due(at_most=AT_ONCE):
            due, until = partial(firings.fire, schedule_id), time.monotonic() + LONGEST_TURN
            while fired := tried(due, duty=DUTY, which=schedule_id):
                decided += fired
                if time.monotonic() >= until:
                    break
        return decided
