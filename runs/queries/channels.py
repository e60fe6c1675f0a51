"""Channels as those who tell people need them."""

from runs.models import Channel
from runs.rules import canonical
from runs.rules.channels import ChannelState, Severity, fits


def fitting(tenant_id: int, *, severity: Severity, workflow: str) -> list[Channel]:
    """The channels of a tenant that news of this severity and workflow takes, dead ones too."""
    active = Channel.objects.filter(tenant_id=tenant_id, state=ChannelState.ACTIVE.value)
    return [
        channel
        for channel in active.order_by("pk")
        if fits(
            severity.value,
            workflow,
            severities=canonical.loads(channel.severities),
            workflows=canonical.loads(channel.workflows),
        )
    ]
