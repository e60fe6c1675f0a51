"""The outbox as people see it: what has to leave, what keeps it, what happens next."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from runs.models import Message
from runs.queries.clock import db_now
from runs.queries.keyset import Position, Slice, slice_of
from runs.queries.visibility import visible_to
from runs.rules import relaying
from runs.rules.policy import Actor
from runs.rules.states import DeliveryState

PAGE = 50
STATES = tuple(state.value for state in DeliveryState)
OPEN = (DeliveryState.PENDING.value, DeliveryState.HELD.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A message, where it stands, and what happens next."""

    message: Message
    on_its_way: bool
    waits_for_turn: bool
    next: str

    @property
    def id(self) -> str:
        return str(self.message.pk)

    @property
    def is_stuck(self) -> bool:
        return self.message.stuck_at is not None and self.message.state in OPEN

    @property
    def may_be_hastened(self) -> bool:
        return self.message.state == DeliveryState.PENDING.value and not self.on_its_way

    @property
    def what(self) -> str:
        call = self.message.call
        return f"{call.effect} for {call.resource}" if call is not None else self.message.kind

    def told(self) -> dict[str, Any]:
        """As commands print it."""
        message = self.message
        return {
            "id": str(message.pk),
            "lane": message.lane,
            "what": self.what,
            "key": message.call.key if message.call else None,
            "run": str(message.run_id) if message.run_id else None,
            "state": message.state,
            "attempts": message.attempts,
            "created_at": message.created_at.isoformat(),
            "due_at": message.due_at.isoformat(),
            "on_its_way": self.on_its_way,
            "stuck_since": message.stuck_at.isoformat() if message.stuck_at else None,
            "error": message.error,
            "next": self.next,
        }


def messages_of(actor: Actor, *, state: str = "", lane: str = "") -> QuerySet[Message]:
    """Of the actor's tenants; `open` is what is pending or held."""
    rows = visible_to(actor, Message.objects.select_related("run", "call"))
    if state:
        rows = rows.filter(state__in=OPEN if state == "open" else [state])
    return rows.filter(lane=lane) if lane else rows


def page_of(actor: Actor, *, state: str, lane: str, position: Position | None) -> Slice[Message]:
    rows = messages_of(actor, state=state, lane=lane)
    return slice_of(rows, by="created_at", position=position, size=PAGE)


def items_of(messages: Sequence[Message]) -> list[Item]:
    """Two queries, however many there are."""
    now = db_now()
    keys = {each.order_key for each in messages if each.order_key and each.state in OPEN}
    open_ = Message.objects.filter(order_key__in=keys, state__in=OPEN).order_by("created_at", "id")
    first: dict[str, UUID] = {}
    for pk, key in open_.values_list("pk", "order_key"):
        first.setdefault(key, pk)
    return [_item(each, first.get(each.order_key), now=now) for each in messages]


def _item(message: Message, first: UUID | None, *, now: datetime) -> Item:
    pending = message.state == DeliveryState.PENDING.value
    on_its_way = pending and message.lease_until is not None and message.lease_until >= now
    waits = pending and first is not None and first != message.pk
    return Item(
        message=message,
        on_its_way=on_its_way,
        waits_for_turn=waits,
        next=relaying.what_next(
            state=message.state,
            relayed=message.call_id is not None,
            on_its_way=on_its_way,
            waits_for_turn=waits,
            paused=message.run is not None and message.run.state == "paused",
        ),
    )


def stuck(actor: Actor, *, at_most: int = 50) -> list[Item]:
    """What has been tried too often to go on unseen, the oldest first."""
    rows = messages_of(actor, state="open").filter(stuck_at__isnull=False)
    return items_of(list(rows.order_by("stuck_at")[:at_most]))


def one(actor: Actor, message_id: UUID) -> Item | None:
    found = messages_of(actor).filter(pk=message_id).first()
    return None if found is None else items_of([found])[0]
