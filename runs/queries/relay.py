"""What couriers and workers have to know of relayed calls."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from runs.models import Message
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.states import DeliveryState


@dataclass(frozen=True, slots=True, kw_only=True)
class InHands:
    """A message that a courier has, and the processes that may be sending it."""

    id: UUID
    fence: int
    senders: tuple[Any, ...]


def in_hands(lane: str) -> list[InHands]:
    """What is on its way in a lane."""
    rows = Message.objects.filter(
        lane=lane, state=DeliveryState.PENDING.value, lease_until__gte=db_now()
    )
    return [
        InHands(id=row.pk, fence=row.fence, senders=tuple(canonical.loads(row.senders)))
        for row in rows[:50]
    ]


def is_due(lane: str) -> bool:
    """Whether something could be taken; cheap, so that idle couriers write nothing."""
    rows = Message.objects.filter(lane=lane, state=DeliveryState.PENDING.value)
    return rows.filter(due_at__lte=db_now()).exists()


def is_left_to_a_courier(key: str) -> bool:
    """Whether a courier has this call, or will."""
    return Message.objects.filter(call__key=key, state=DeliveryState.PENDING.value).exists()


def senders_of(key: str) -> list[str]:
    """Processes that were sending this call and have not said that they came to an end."""
    rows = Message.objects.filter(call__key=key).values_list("senders", flat=True)
    return [sender for text in rows for sender in canonical.loads(text)]
