"""A message that leaves after the transaction that wrote it has committed."""

from uuid import UUID

import uuid6
from django.db import models

from runs.models.run import Run
from runs.models.tenant import Tenant
from runs.rules.states import DeliveryState


def new_message_id() -> UUID:
    """The stable id that every delivery of this message carries."""
    return UUID(int=uuid6.uuid7().int)


class Message(models.Model):
    """`lane` names the channel whose courier delivers it; a delivery has a lease and a fence."""

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
    created_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=[state.value for state in DeliveryState]),
                name="message_state_is_known",
            )
        ]
        indexes = [
            models.Index(
                fields=["lane", "due_at"],
                condition=models.Q(state=DeliveryState.PENDING.value),
                name="message_to_deliver",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"
