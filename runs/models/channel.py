"""A way in which a tenant's people are told, and which news takes it."""

from django.db import models

from runs.models.tenant import Tenant
from runs.rules.channels import ChannelKind, ChannelState


class Channel(models.Model):
    """`target` is what may be shown of where it leads; `sealed` is the rest, encrypted, and never shown.

    `severities` and `workflows` are JSON lists; no workflow named means all. Its courier's lane is
    named by its id. It is dead from when too many deliveries in a row failed until one arrives.
    """

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False)
    name = models.CharField(max_length=60)
    kind = models.CharField(max_length=20)
    target = models.CharField(max_length=300)
    sealed = models.TextField(default="", blank=True)
    severities = models.TextField()
    workflows = models.TextField(default="[]")
    state = models.CharField(max_length=20, default=ChannelState.ACTIVE.value)
    paused_note = models.TextField(default="", blank=True)
    failures = models.PositiveIntegerField(default=0)
    dead_at = models.DateTimeField(null=True)
    last_error = models.TextField(default="", blank=True)
    last_tried_at = models.DateTimeField(null=True)
    last_delivered_at = models.DateTimeField(null=True)
    old_secret_until = models.DateTimeField(null=True)
    revision = models.PositiveIntegerField(default=1)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    kind__in=[kind.value for kind in ChannelKind],
                    state__in=[state.value for state in ChannelState],
                ),
                name="channel_kind_and_state_are_known",
            ),
            models.CheckConstraint(
                condition=~models.Q(state=ChannelState.REMOVED.value)
                | models.Q(sealed="", removed_at__isnull=False),
                name="removed_channel_keeps_no_secret",
            ),
            models.UniqueConstraint(
                fields=["tenant", "name"],
                condition=models.Q(removed_at__isnull=True),
                name="one_channel_per_name",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.kind})"
