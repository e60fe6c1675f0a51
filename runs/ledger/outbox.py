"""Messages that leave after their transaction: put, take under a lease, settle."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from runs.ledger.commits import commits
from runs.models import Message
from runs.queries.clock import db_now
from runs.queries.deliveries import messages_beginning
from runs.rules import canonical
from runs.rules.states import DeliveryState

MOST_ATTEMPTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A message in a courier's hands: `fence` is the number of this delivery.

    `interrupted` when whoever had it before ended without a word, so it may have left.
    """

    id: UUID
    tenant_id: int
    run_id: UUID | None
    kind: str
    lane: str
    payload: Any
    attempts: int
    fence: int
    interrupted: bool = False


def put(
    *,
    tenant_id: int,
    run_id: UUID | None,
    lane: str,
    kind: str,
    dedup_key: str,
    payload: Mapping[str, Any],
) -> UUID:
    """Put a message into the caller's transaction, once for each `dedup_key`; its stable id."""
    now = db_now()
    message, _ = Message.objects.get_or_create(
        dedup_key=dedup_key,
        defaults={
            "tenant_id": tenant_id,
            "run_id": run_id,
            "lane": lane,
            "kind": kind,
            "payload": canonical.dumps(dict(payload)),
            "due_at": now,
            "created_at": now,
        },
    )
    return message.pk


@commits("delivery_taken", when=bool)
def take(*, lane: str, lease: timedelta) -> Taken | None:
    """The oldest message of a lane that is due and in nobody's hands, for as long as the lease."""
    with transaction.atomic():
        now = db_now()
        message = (
            Message.objects.select_for_update(skip_locked=True, no_key=True)
            .filter(lane=lane, state=DeliveryState.PENDING.value, due_at__lte=now)
            .filter(Q(lease_until=None) | Q(lease_until__lt=now))
            .order_by("due_at", "id")
            .first()
        )
        if message is None:
            return None
        interrupted = message.lease_until is not None
        message.fence += 1
        message.attempts += 1
        message.lease_until = now + lease
        message.save(update_fields=["fence", "attempts", "lease_until"])
    return Taken(
        id=message.pk,
        tenant_id=message.tenant_id,
        run_id=message.run_id,
        kind=message.kind,
        lane=lane,
        payload=canonical.loads(message.payload),
        attempts=message.attempts,
        fence=message.fence,
        interrupted=interrupted,
    )


def settle(taken: Taken, *, to: DeliveryState, error: str = "", answer: str = "") -> bool:
    """Within the caller's transaction; False when another courier has it by now."""
    return bool(
        _in_hands(taken).update(
            state=to.value, settled_at=db_now(), lease_until=None, error=error, answer=answer
        )
    )


def postpone(taken: Taken, *, error: str, after: timedelta, answer: str = "") -> bool:
    """Within the caller's transaction; False when another courier has it by now."""
    later = db_now() + after
    return bool(_in_hands(taken).update(due_at=later, lease_until=None, error=error, answer=answer))


def _in_hands(taken: Taken) -> Any:
    return Message.objects.filter(pk=taken.id, fence=taken.fence, state=DeliveryState.PENDING.value)


def forget_settled(beginning: str) -> int:
    """Take away notices whose ids begin like this and that nobody will send; in the caller's transaction."""
    settled = (DeliveryState.DELIVERED.value, DeliveryState.DEAD.value)
    rows = messages_beginning(beginning).filter(state__in=settled, call=None)
    return rows.delete()[0]
