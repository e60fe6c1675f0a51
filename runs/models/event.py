"""An event that came from outside, kept until the run that waits for it has used it."""

from django.db import models

from runs.models.tenant import Tenant
from runs.models.wait import Wait


class Event(models.Model):
    """Deduplicated by (tenant, name, message id); the row stays when it was used (I14).

    `late_for` is the wait that had ended unanswered when it came. `repeats` counts the times the
    same message came again, `conflicts` those it came with another payload.
    """

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False)
    name = models.CharField(max_length=200)
    correlation_id = models.CharField(max_length=300)
    message_id = models.CharField(max_length=300)
    payload = models.TextField()
    payload_digest = models.CharField(max_length=64)
    source = models.CharField(max_length=200, default="", blank=True)
    received_at = models.DateTimeField()
    used_by = models.ForeignKey(
        Wait, on_delete=models.PROTECT, null=True, related_name="events", db_index=False
    )
    used_at = models.DateTimeField(null=True)
    late_for = models.ForeignKey(
        Wait, on_delete=models.PROTECT, null=True, related_name="late_events", db_index=False
    )
    repeats = models.PositiveIntegerField(default=0)
    conflicts = models.PositiveIntegerField(default=0)
    repeated_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "name", "message_id"], name="one_event_per_message_id"
            ),
            models.UniqueConstraint(
                fields=["used_by"],
                condition=models.Q(used_by__isnull=False),
                name="one_event_per_wait",
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "name", "correlation_id", "id"],
                condition=models.Q(used_by__isnull=True),
                name="event_unused",
            ),
            models.Index(fields=["-received_at", "-id"], name="event_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.message_id}"
