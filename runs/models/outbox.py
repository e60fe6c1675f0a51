"""A message that leaves after the transaction that wrote it has committed."""

from uuid import UUID

import uuid6
from django.db import models

from runs.models.call import Call
from runs.models.run import Run
from runs.models.tenant import Tenant
from runs.rules.states import DeliveryState


def new_message_id() -> UUID:
    """The stable id that every delivery of this message carries."""
    return UUID(int=uuid6.uuid7().int)


class Message(models.Model):
    """`lane` names the channel whose courier delivers it; a delivery has a lease and a fence.

    One that carries a relayed call names it; `order_key` is shared by those that keep their order,
    `alone` says that the receiver gets one at a time, `senders` are the processes that may still
    send it, and it is `held` while its call is in doubt and nobody may send it. `answer` is what the
    receiver of a notice said, without secrets.
    """

    id = models.UUIDField(primary_key=True, default=new_message_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, null=True, db_index=False)
    lane = models.CharField(max_length=100)
    kind = models.CharField(max_length=100)
    dedup_key = models.CharField(max_length=300, unique=True)
    payload = models.TextField()
    state = models.CharField(max_length=20, default=DeliveryState.PENDING.value)
    attempts = models.PositiveIntegerField(default=0)
    fence = models.BigIntegerField(default=0)
    due_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True)
    error = models.TextField(default="", blank=True)
    answer = models.TextField(default="", blank=True)
    created_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True)
    call = models.ForeignKey(Call, on_delete=models.PROTECT, null=True, related_name="messages")
    order_key = models.CharField(max_length=64, default="", blank=True)
    alone = models.BooleanField(default=False)
    senders = models.TextField(default="[]")
    stuck_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=[state.value for state in DeliveryState]),
                name="message_state_is_known",
            ),
            models.UniqueConstraint(
                fields=["call"],
                condition=models.Q(state=DeliveryState.PENDING.value),
                name="one_pending_message_per_call",
            ),
        ]
        indexes = [
            models.Index(
                fields=["lane", "due_at"],
                condition=models.Q(state=DeliveryState.PENDING.value),
                name="message_to_deliver",
            ),
            models.Index(
                fields=["order_key", "created_at"],
                condition=models.Q(
                    state__in=[DeliveryState.PENDING.value, DeliveryState.HELD.value]
                )
                & ~models.Q(order_key=""),
                name="message_in_order",
            ),
            models.Index(
                fields=["run"],
                condition=models.Q(
                    state__in=[DeliveryState.PENDING.value, DeliveryState.HELD.value]
                ),
                name="message_of_a_run",
            ),
            models.Index(fields=["-created_at", "-id"], name="message_newest"),
            models.Index(
                fields=["lane", "-created_at", "-id"],
                condition=models.Q(call__isnull=True),
                name="notice_of_a_lane",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"
