"""What became of messages whose ids begin alike: which channel, sent or failed, and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from runs.models import Channel, Message
from runs.queries.clock import db_now
from runs.queries.visibility import visible_to
from runs.rules import canonical
from runs.rules.channels import channel_of
from runs.rules.policy import Actor
from runs.rules.states import DeliveryState

MOST = 200
MOST_LATELY, LATELY = 20, timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One message to one channel. `channel` is the mail itself where no channel is meant."""

    id: UUID
    channel: str
    channel_id: int | None
    title: str
    state: str
    attempts: int
    error: str
    put_at: datetime
    settled_at: datetime | None
    next_at: datetime | None


def any_arrived(beginning: str) -> bool:
    return messages_beginning(beginning).filter(state=DeliveryState.DELIVERED.value).exists()


def keys_beginning(beginning: str) -> list[str]:
    return list(messages_beginning(beginning).values_list("dedup_key", flat=True))


def unsettled_keys(*, kind: str) -> list[str]:
    """Of the messages of a kind that are still to leave."""
    waiting = (DeliveryState.PENDING.value, DeliveryState.HELD.value)
    rows = Message.objects.filter(kind=kind, state__in=waiting)
    return list(rows.values_list("dedup_key", flat=True))


def messages_beginning(beginning: str) -> QuerySet[Message]:
    """Those whose deduplication key begins like this, found by its index on both databases."""
    rows = Message.objects.filter(dedup_key__startswith=beginning)
    if connection.vendor == "sqlite":
        # Its LIKE uses no index, but its order of texts is that of their bytes.
        rows = rows.filter(dedup_key__gte=beginning, dedup_key__lt=beginning + "\U0010ffff")
    return rows


def deliveries_of(actor: Actor, beginning: str) -> Sequence[Delivery]:
    """The newest first."""
    rows = visible_to(actor, messages_beginning(beginning))
    return _told(list(rows.order_by("-created_at", "-pk")[:MOST]))


def lately(actor: Actor, *, kind: str) -> Sequence[Delivery]:
    """The newest messages of a kind, of the last days."""
    since = db_now() - LATELY
    rows = visible_to(actor, Message.objects.filter(kind=kind, created_at__gte=since))
    return _told(list(rows.order_by("-created_at", "-pk")[:MOST_LATELY]))


def _told(found: Sequence[Message]) -> Sequence[Delivery]:
    ids = {number for each in found if (number := channel_of(each.lane)) is not None}
    names = dict(Channel.objects.filter(pk__in=ids).values_list("pk", "name"))
    return [_delivery(each, names) for each in found]


def _delivery(message: Message, names: dict[int, str]) -> Delivery:
    channel_id = channel_of(message.lane)
    pending = message.state == DeliveryState.PENDING.value
    failed = pending and bool(message.error)
    return Delivery(
        id=message.pk,
        channel=names.get(channel_id, message.lane) if channel_id is not None else message.lane,
        channel_id=channel_id,
        title=str(canonical.loads(message.payload).get("title", message.kind)),
        state="failing" if failed else message.state,
        attempts=message.attempts,
        error=message.error,
        put_at=message.created_at,
        settled_at=message.settled_at,
        next_at=max(message.due_at, db_now()) if pending else None,
    )
