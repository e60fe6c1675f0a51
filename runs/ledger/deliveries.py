"""What came of a delivery: kept with the message, and with the channel, whose death is told elsewhere."""

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction

from runs.ledger import audit, outbox
from runs.ledger.commits import commits
from runs.ledger.outbox import Taken
from runs.ledger.telling import tell
from runs.models import Channel, Tenant
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.channels import DEAD_AFTER, MAIL_LANE, TEST_KIND, Severity, channel_of
from runs.rules.states import DeliveryState


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why it did not arrive, what the receiver said, and when to try again."""

    error: str
    answer: str = ""
    after: timedelta


@commits("delivered", when=bool)
def arrived(taken: Taken, *, answer: str) -> bool:
    """False when another courier has it by now."""
    with transaction.atomic():
        channel = _channel_of(taken)
        settled = outbox.settle(taken, to=DeliveryState.DELIVERED, answer=answer)
        if settled and channel is not None:
            now = db_now()
            channel.failures, channel.dead_at, channel.last_error = 0, None, ""
            channel.last_tried_at = channel.last_delivered_at = now
            _save(channel)
    return settled


@commits("delivery_postponed", when=bool)
def failed(taken: Taken, failure: Failure) -> bool:
    """Later again, or never when it was tried too often; a test is tried once."""
    with transaction.atomic():
        channel = _channel_of(taken)
        is_test = taken.kind == TEST_KIND
        if is_test or taken.attempts >= outbox.MOST_ATTEMPTS:
            kept = outbox.settle(
                taken, to=DeliveryState.DEAD, error=failure.error, answer=failure.answer
            )
        else:
            kept = outbox.postpone(
                taken, error=failure.error, after=failure.after, answer=failure.answer
            )
        if kept and channel is not None:
            _count(channel, taken, failure, is_test=is_test)
        # A killed try is booked by the next one, so that a single number may never be seen here.
        elif kept and taken.lane == MAIL_LANE and taken.attempts >= DEAD_AFTER:
            _tell_of_mail(taken)
    return kept


@commits("delivery_given_up", when=bool)
def give_up(taken: Taken, *, because: str) -> bool:
    """It is put away: nobody can deliver it any more."""
    return outbox.settle(taken, to=DeliveryState.DEAD, error=because)


def _channel_of(taken: Taken) -> Channel | None:
    """The channel of a delivery, locked behind its tenant, as everybody takes them."""
    channel_id = channel_of(taken.lane)
    if channel_id is None:
        return None
    Tenant.objects.select_for_update(no_key=True).get(pk=taken.tenant_id)
    return Channel.objects.select_for_update(no_key=True).filter(pk=channel_id).first()


def _count(channel: Channel, taken: Taken, failure: Failure, *, is_test: bool) -> None:
    channel.last_tried_at, channel.last_error = db_now(), failure.error
    if not is_test:
        channel.failures += 1
    given_up = not is_test and taken.attempts >= outbox.MOST_ATTEMPTS
    if channel.dead_at is None and (channel.failures >= DEAD_AFTER or given_up):
        channel.dead_at = db_now()
        _save(channel)
        _tell_of(channel)
    else:
        _save(channel)


def _save(channel: Channel) -> None:
    channel.save(
        update_fields=["failures", "dead_at", "last_error", "last_tried_at", "last_delivered_at"]
    )


def _tell_of(channel: Channel) -> None:
    """By every other channel, and by mail where none is left."""
    now = db_now()
    body = {"channel": channel.pk, "name": channel.name, "failures": channel.failures}
    audit.append_to_tenant(
        channel.tenant_id,
        [Draft(kind="channel.dead", body=canonical.dumps(body))],
        now=now,
        actor="courier",
    )
    tell(
        tenant_id=channel.tenant_id,
        run_id=None,
        kind="channel.dead",
        title=f"The channel {channel.name} reaches nobody: {channel.failures} deliveries in a row failed",
        link=f"/channels/{channel.pk}/",
        dedup_key=f"channel.dead:{channel.pk}:{now.isoformat()}",
        severity=Severity.CRITICAL.value,
        but_not=channel.pk,
    )


def _tell_of_mail(taken: Taken) -> None:
    """Once a day: what leaves by mail without a channel has no row that could say so."""
    tell(
        tenant_id=taken.tenant_id,
        run_id=None,
        kind="channel.dead",
        title=f"Mail does not leave: {taken.attempts} tries of one notice failed",
        link="/outbox/",
        dedup_key=f"channel.dead:mail:{taken.tenant_id}:{db_now():%Y-%m-%d}",
        severity=Severity.CRITICAL.value,
    )
