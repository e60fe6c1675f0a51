"""Channels as people see them: where each leads, whether it arrives, who would be told of what."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, QuerySet

from runs.models import Channel, Message
from runs.queries import channels, people
from runs.queries.clock import db_now
from runs.queries.visibility import visible_to
from runs.rules import canonical
from runs.rules.channels import (
    DEAD_AFTER,
    MAIL_LANE,
    SEVERITY_SAYS,
    TEST_KIND,
    ChannelState,
    Severity,
    lane_of,
)
from runs.rules.policy import Actor
from runs.rules.states import DeliveryState

SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A channel, how it is, and how much waits for it."""

    channel: Channel
    waiting: int
    rotating: bool

    @property
    def state(self) -> str:
        channel = self.channel
        if channel.state == ChannelState.PAUSED:
            return "paused"
        if channel.dead_at is not None:
            return "down"
        if channel.last_error:
            return "failing"
        return "up" if channel.last_delivered_at is not None else "new"

    @property
    def severities(self) -> list[str]:
        return [each.value for each in Severity if each in canonical.loads(self.channel.severities)]

    @property
    def workflows(self) -> list[str]:
        return list(canonical.loads(self.channel.workflows))

    def told(self) -> dict[str, object]:
        """As commands print it; nothing in it is secret."""
        channel = self.channel
        return {
            "id": channel.pk,
            "name": channel.name,
            "kind": channel.kind,
            "tenant": channel.tenant.slug,
            "target": channel.target,
            "state": self.state,
            "severities": self.severities,
            "workflows": self.workflows,
            "waiting": self.waiting,
            "failures": channel.failures,
            "dead_since": _text(channel.dead_at),
            "last_delivered_at": _text(channel.last_delivered_at),
            "last_error": channel.last_error,
            "old_secret_until": _text(channel.old_secret_until) if self.rotating else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """One severity, and the channels that news of it takes."""

    severity: str
    says: str
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Who would be told now: by which channels, and who by mail."""

    rows: Sequence[Row]
    people: Sequence[str]


def _visible(actor: Actor) -> QuerySet[Channel]:
    rows = visible_to(actor, Channel.objects.select_related("tenant"))
    return rows.filter(removed_at=None).order_by("tenant_id", "name")


def rows_of(actor: Actor) -> list[Row]:
    return _rows(list(_visible(actor)))


def one(actor: Actor, channel_id: int) -> Row | None:
    found = _visible(actor).filter(pk=channel_id).first()
    return None if found is None else _rows([found])[0]


def named(actor: Actor, name: str, *, tenant: str = "") -> list[Row]:
    """By its name, which several tenants may use, or by its number."""
    rows = _visible(actor)
    if tenant:
        rows = rows.filter(tenant__slug=tenant)
    found = list(rows.filter(name=name))
    if not found and name.isascii() and name.isdecimal():
        found = list(rows.filter(pk=int(name)))
    return _rows(found)


def _rows(found: Sequence[Channel]) -> list[Row]:
    now = db_now()
    counted = Message.objects.filter(
        lane__in=[lane_of(each.pk) for each in found], state=DeliveryState.PENDING.value
    )
    waiting = dict(counted.values("lane").annotate(n=Count("pk")).values_list("lane", "n"))
    return [
        Row(
            channel=each,
            waiting=waiting.get(lane_of(each.pk), 0),
            rotating=each.old_secret_until is not None and each.old_secret_until > now,
        )
        for each in found
    ]


def routing(rows: Sequence[Row]) -> list[Routed]:
    """The table of severities: what takes which channel, paused ones left out."""
    active = [row for row in rows if row.state != "paused"]
    return [
        Routed(
            severity=each.value,
            says=SEVERITY_SAYS[each],
            rows=[row for row in active if each.value in row.severities],
        )
        for each in Severity
    ]


def told_by_it_alone(row: Row, rows: Sequence[Row]) -> list[str]:
    """The severities of which no other active channel of its tenant tells."""
    others = {
        severity
        for each in rows
        if each.channel.pk != row.channel.pk and each.channel.tenant_id == row.channel.tenant_id
        if each.state != "paused"
        for severity in each.severities
    }
    return [each for each in row.severities if each not in others]


def would_be_told(rows: Sequence[Row], *, tenant_id: int, severity: str, workflow: str) -> Told:
    """As `tell` would decide it, for news that names nobody."""
    fitting = channels.fitting(tenant_id, severity=Severity(severity), workflow=workflow)
    found = {each.pk for each in fitting}
    alive = any(each.dead_at is None for each in fitting)
    by_mail = people.to_be_told(tenant_id=tenant_id).exclude(email="") if not alive else None
    return Told(
        rows=[row for row in rows if row.channel.pk in found],
        people=list(by_mail.values_list("username", flat=True)[:50]) if by_mail is not None else [],
    )


def deliveries(row: Row) -> list[Message]:
    """The newest of a channel, tests included."""
    rows = Message.objects.filter(lane=lane_of(row.channel.pk), call__isnull=True)
    return list(rows.order_by("-created_at", "-id")[:SHOWN])


def newest_test(sent: Sequence[Message]) -> Message | None:
    return next((each for each in sent if each.kind == TEST_KIND), None)


def tested(actor: Actor, message_id: UUID) -> Message | None:
    """How a test stands."""
    return visible_to(actor, Message.objects.all()).filter(pk=message_id, kind=TEST_KIND).first()


def version_of(row: Row, sent: Sequence[Message]) -> str:
    said = "".join(f"{each.pk}{each.state}{each.attempts}{each.due_at}" for each in sent)
    return canonical.digest(f"{row.channel.revision}{row.channel.last_tried_at}{said}")[:16]


def failing(actor: Actor) -> list[Row]:
    """The channels that reach nobody."""
    return _rows(list(_visible(actor).filter(dead_at__isnull=False, state="active")[:SHOWN]))


def mail_that_does_not_leave(actor: Actor) -> Message | None:
    """The oldest notice by mail that was tried too often; no channel's row can say so."""
    waiting = visible_to(actor, Message.objects.filter(lane=MAIL_LANE, attempts__gte=DEAD_AFTER))
    pending = waiting.filter(state=DeliveryState.PENDING.value)
    return pending.order_by("created_at").first()


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
