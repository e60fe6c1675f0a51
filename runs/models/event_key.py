"""A key under which a sender outside delivers events."""

from django.db import models

from runs.models.tenant import Tenant


class EventKey(models.Model):
    """Only the digest of its secret is stored. Several of one name may live: that is how one is rotated.

    `events` is a JSON list of the event names it may deliver; an empty one allows every name.
    `window_began` and `window_count` bound how often it is used.
    """

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT)
    name = models.CharField(max_length=100)
    handle = models.CharField(max_length=20, unique=True)
    secret_digest = models.CharField(max_length=64)
    events = models.TextField(default="[]")
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    revoked_by = models.CharField(max_length=200, default="", blank=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    window_began = models.DateTimeField(null=True)
    window_count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(revoked_at__isnull=True) | ~models.Q(revoked_by=""),
                name="revoked_event_key_says_by_whom",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.handle}"
