"""The couriers: one process a lane delivers the outbox, and is killed when a delivery hangs (R32)."""

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import Error, close_old_connections, connection

from runs.channels import mail
from runs.engine import secrets
from runs.ledger import outbox, ticks

log = logging.getLogger(__name__)

LANES: dict[str, Callable[[str, dict[str, Any]], None]] = {"mail": mail.deliver}
DELIVERY_LIMIT = 30.0
LOOK_EVERY = 0.5
FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(hours=1)


def run_lane(
    lane: str, *, stopped: Callable[[], bool], must_end: Callable[[float | None], None]
) -> None:
    """Deliver what is due in one lane, until stopped.

    `must_end` tells the parent within how many seconds this process has to be heard of again;
    no transaction is open while something is being sent.
    """
    while not stopped():
        try:
            close_old_connections()
            ticks.note(f"courier {lane}", holder=lane)
            if not _deliver_one(lane, must_end=must_end):
                time.sleep(LOOK_EVERY)
        except Error as error:
            log.warning("courier.database_away", extra={"lane": lane, "error": str(error)})
            connection.close()
            time.sleep(LOOK_EVERY)


def _deliver_one(lane: str, *, must_end: Callable[[float | None], None]) -> bool:
    taken = outbox.take(lane=lane, lease=timedelta(seconds=DELIVERY_LIMIT * 2))
    if taken is None:
        return False
    must_end(DELIVERY_LIMIT)
    try:
        LANES[lane](str(taken.id), taken.payload)
    # The rim of a delivery: a channel may fail in any way, the message stays.
    except Exception as error:  # noqa: BLE001
        described = secrets.describe(error)
        outbox.postpone(taken, error=described, after=pause_after(taken.attempts))
        log.warning(
            "message.not_delivered", extra={"message_id": str(taken.id), "error": described}
        )
    else:
        outbox.delivered(taken)
    finally:
        must_end(None)
    return True


def pause_after(attempts: int) -> timedelta:
    """Twice as long after each attempt, for hours."""
    doublings = min(attempts - 1, 20)
    return min(FIRST_PAUSE * int(2**doublings), LONGEST_PAUSE)
