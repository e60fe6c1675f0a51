"""Channels as those who tell people, and those who deliver, need them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, Min, Q

from runs.conf import sealing_keys
from runs.models import Channel, Message
from runs.queries.clock import db_now
from runs.rules import canonical, sealing
from runs.rules.channels import ChannelState, Severity, fits, lane_of
from runs.rules.states import DeliveryState


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What a courier needs to deliver by a channel; it is shown to nobody."""

    kind: str
    address: str
    secrets: tuple[str, ...]


def fitting(tenant_id: int, *, severity: Severity, workflow: str) -> list[Channel]:
    """The channels of a tenant that news of this severity and workflow takes, dead ones too."""
    found = active([tenant_id])
    return [each for each in found if takes(each, severity=severity, workflow=workflow)]


def active(tenant_ids: Collection[int]) -> list[Channel]:
    """Those by which people of these tenants are told, dead ones too."""
    rows = Channel.objects.filter(tenant__in=tenant_ids, state=ChannelState.ACTIVE.value)
    return list(rows.order_by("pk"))


def takes(channel: Channel, *, severity: Severity, workflow: str) -> bool:
    """Whether news of this severity and workflow takes it."""
    return fits(
        severity.value,
        workflow,
        severities=canonical.loads(channel.severities),
        workflows=canonical.loads(channel.workflows),
    )


def lanes_due() -> list[str]:
    """The lanes of active channels that have something to deliver now, the longest waiting first."""
    active = Channel.objects.filter(state=ChannelState.ACTIVE.value).values_list("pk", flat=True)
    lanes = [lane_of(pk) for pk in active]
    if not lanes:
        return []
    now = db_now()
    due = Message.objects.filter(
        Q(lease_until=None) | Q(lease_until__lt=now),
        lane__in=lanes,
        state=DeliveryState.PENDING.value,
        due_at__lte=now,
    )
    return list(
        due.values("lane")
        .annotate(first=Min("due_at"))
        .order_by("first")
        .values_list("lane", flat=True)
    )


def failing_lanes() -> list[str]:
    """The lanes of active channels whose last delivery failed, the longest untried first."""
    failing = Channel.objects.filter(state=ChannelState.ACTIVE.value, failures__gt=0)
    tried = failing.order_by(F("last_tried_at").asc(nulls_first=True), "pk")
    return [lane_of(pk) for pk in tried.values_list("pk", flat=True)]


def opened(channel_id: int, *, now: datetime) -> Opened | None:
    """None when it is paused or removed. Raises sealing.CannotUnseal."""
    channel = Channel.objects.filter(pk=channel_id, state=ChannelState.ACTIVE.value).first()
    if channel is None:
        return None
    kept = sealed_in(channel)
    valid = 2 if channel.old_secret_until is not None and channel.old_secret_until > now else 1
    return Opened(
        kind=channel.kind, address=kept["address"], secrets=tuple(kept["secrets"][:valid])
    )


def sealed_in(channel: Channel) -> dict[str, Any]:
    """Raises sealing.CannotUnseal."""
    found: dict[str, Any] = canonical.loads(sealing.unseal(channel.sealed, keys=sealing_keys()))
    return found
