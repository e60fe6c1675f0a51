"""What is wrong by itself, in the tables: schedules that start nothing, what is stuck, dead channels."""

from collections.abc import Sequence
from dataclasses import dataclass

from runs.models import Channel, Message, Schedule
from runs.queries.pages_schedules import last_reason
from runs.rules.channels import ChannelState
from runs.rules.schedules import STREAK
from runs.rules.states import DeliveryState

MOST = 5000
OPEN = (DeliveryState.PENDING.value, DeliveryState.HELD.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """`subject` names the thing for good, `cause` what it shares with others like it."""

    kind: str
    tenant_id: int
    subject: str
    sentence: str
    link: str
    cause: str = ""
    workflow: str = ""


def found() -> Sequence[Found]:
    """All of it, of every tenant."""
    return [*_idle_schedules(), *_stuck_messages(), *_dead_channels()]


def _idle_schedules() -> Sequence[Found]:
    rows = Schedule.objects.filter(enabled=True, removed_at=None, skips__gte=STREAK)
    return [
        Found(
            kind="schedule",
            tenant_id=one.tenant_id,
            subject=f"schedule:{one.pk}",
            sentence=f"Schedule {one.slug} starts nothing: {last_reason(one) or 'its due times came to nothing'}.",
            link=f"/schedules/{one.pk}/",
            workflow=one.workflow,
        )
        for one in rows.order_by("pk")[:MOST]
    ]


def _stuck_messages() -> Sequence[Found]:
    rows = Message.objects.filter(state__in=OPEN, stuck_at__isnull=False).select_related("call")
    return [
        Found(
            kind="outbox",
            tenant_id=one.tenant_id,
            subject=f"message:{one.pk}",
            # It goes to channels: neither what was asked of whom, nor what was answered.
            sentence=f"Stuck in the outbox: {_what(one)}, tried {one.attempts} times.",
            link=f"/outbox/?lane={one.lane}",
            cause=f"lane:{one.lane}",
        )
        for one in rows.order_by("stuck_at", "pk")[:MOST]
    ]


def _what(message: Message) -> str:
    call = message.call
    return f"a call of {call.effect}" if call else message.kind


def _dead_channels() -> Sequence[Found]:
    rows = Channel.objects.filter(state=ChannelState.ACTIVE.value, dead_at__isnull=False)
    return [
        Found(
            kind="channel",
            tenant_id=one.tenant_id,
            subject=f"channel:{one.pk}",
            sentence=f"Channel {one.name} delivers nothing: {one.last_error}",
            link="/channels/",
        )
        for one in rows.order_by("pk")[:MOST]
    ]
