"""The couriers: one process a lane delivers the outbox, and is killed when a delivery hangs (R32)."""

import logging
import time
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db import Error, close_old_connections, connection

from runs.channels import apprised, mail, webhook
from runs.channels.notice import NotDelivered, Notice
from runs.conf import channel_networks, channel_schemes
from runs.engine import secrets
from runs.ledger import deliveries, outbox, ticks
from runs.ledger.deliveries import Failure
from runs.ledger.outbox import Taken
from runs.queries import channels
from runs.queries.channels import Opened
from runs.queries.clock import db_now
from runs.rules.channels import MAIL_LANE, ChannelKind, channel_of
from runs.rules.sealing import CannotUnseal

log = logging.getLogger(__name__)

LANES = (MAIL_LANE,)
DELIVERY_LIMIT = 30.0
# Behind the limit, until another courier may take the message: this one is gone by then.
TO_BE_GONE = 10.0
LOOK_EVERY = 0.5
NOTE_EVERY = 2.0
FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(hours=1)
# The courier of a channel ends when it had nothing to do for so long; watch starts another.
IDLE_FOR = 5.0
ENDED = "its courier ended while it was delivering this, so it may have arrived"

Stopped = Callable[[], bool]
MustEnd = Callable[[float | None], None]


def run_lane(
    lane: str, *, stopped: Stopped, must_end: MustEnd, idle_for: float | None = None
) -> None:
    """Deliver what is due in one lane, until stopped, or until it has been idle for long enough.

    `must_end` tells the parent within how many seconds this process has to be heard of again;
    no transaction is open while something is being sent.
    """
    worked, noted = time.monotonic(), 0.0
    while not stopped():
        try:
            close_old_connections()
            if time.monotonic() - noted >= NOTE_EVERY:
                noted = time.monotonic()
                ticks.note(f"courier {lane}", holder=lane)
            if deliver_next(lane, must_end=must_end):
                worked = time.monotonic()
            elif idle_for is not None and time.monotonic() - worked >= idle_for:
                return
            else:
                time.sleep(LOOK_EVERY)
        except Error as error:
            log.warning("courier.database_away", extra={"lane": lane, "error": str(error)})
            connection.close()
            time.sleep(LOOK_EVERY)


def deliver_next(lane: str, *, must_end: MustEnd = lambda _: None) -> bool:
    """Take the next message of the lane and bring it to an end or to its next try."""
    channel = None
    if (channel_id := channel_of(lane)) is not None:
        try:
            channel = channels.opened(channel_id, now=db_now())
        except CannotUnseal as error:
            return _fail_next(lane, str(error))
        if channel is None:
            return False
    taken = outbox.take(lane=lane, lease=timedelta(seconds=DELIVERY_LIMIT + TO_BE_GONE))
    if taken is None:
        return False
    if taken.interrupted:
        deliveries.failed(taken, Failure(error=ENDED, after=pause_after(taken.attempts)))
        return True
    must_end(DELIVERY_LIMIT)
    try:
        _deliver(taken, channel)
    finally:
        must_end(None)
    return True


def _fail_next(lane: str, error: str) -> bool:
    taken = outbox.take(lane=lane, lease=timedelta(seconds=DELIVERY_LIMIT))
    if taken is None:
        return False
    return deliveries.failed(taken, Failure(error=error, after=pause_after(taken.attempts)))


def _deliver(taken: Taken, channel: Opened | None) -> None:
    """A channel may fail in any way; the message stays."""
    try:
        answer = _sent(_notice_of(taken), channel)
    except NotDelivered as failed:
        after = max(failed.after or timedelta(0), pause_after(taken.attempts))
        _booked(taken, Failure(error=str(failed), answer=failed.answer, after=after), channel)
    # The rim of a delivery: whatever a driver or a library of it raises.
    except (Exception, SystemExit) as error:  # noqa: BLE001
        failure = Failure(error=secrets.describe(error), after=pause_after(taken.attempts))
        _booked(taken, failure, channel)
    else:
        deliveries.arrived(taken, answer=answer)


def _booked(taken: Taken, failure: Failure, channel: Opened | None) -> None:
    deliveries.failed(taken, failure)
    told = {"message_id": str(taken.id), "lane": taken.lane}
    # What a channel's receiver or library says may hold parts of its address; the page shows it.
    error = failure.error if channel is None else "see the page of the channel"
    log.warning("message.not_delivered", extra={**told, "error": error})


def _notice_of(taken: Taken) -> Notice:
    said = taken.payload
    return Notice(
        id=str(taken.id),
        kind=taken.kind,
        title=said["title"],
        link=said["link"],
        severity=said.get("severity", "info"),
        at=said.get("at", ""),
        to=tuple(said.get("to", ())),
    )


def _sent(notice: Notice, channel: Opened | None) -> str:
    if channel is None:
        return mail.deliver(notice)
    match ChannelKind(channel.kind):
        case ChannelKind.MAIL:
            return mail.deliver(notice.for_people(channel.address.split(", ")))
        case ChannelKind.WEBHOOK:
            endpoint = webhook.Endpoint(url=channel.address, secrets=channel.secrets)
            return webhook.deliver(notice, endpoint, allowed=channel_networks(), now=db_now())
        case ChannelKind.APPRISE:
            return apprised.deliver(
                notice,
                channel.address,
                schemes=channel_schemes(),
                networks=channel_networks(),
                private=[str(settings.VAR_DIR)],
            )


def pause_after(attempts: int) -> timedelta:
    """Twice as long after each attempt, for hours."""
    doublings = min(attempts - 1, 20)
    return min(FIRST_PAUSE * int(2**doublings), LONGEST_PAUSE)
