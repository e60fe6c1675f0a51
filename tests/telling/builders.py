"""Builds channels and news, and delivers."""

from typing import Any

from runs.channels import leading
from runs.engine import courier
from runs.ledger import channels
from runs.ledger.channels import Secret
from runs.ledger.telling import tell
from runs.ledger.tenants import DEFAULT
from runs.models import Channel, Message, Tenant
from runs.queries.channels import lanes_due
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.channels import ChannelWish
from runs.rules.policy import local_operator


def the_tenant() -> Tenant:
    return Tenant.objects.get(slug=DEFAULT)


def a_row(name: str = "ops", *, tenant: Tenant | None = None, **more: Any) -> Channel:
    """A channel as a row, for what does not deliver by it."""
    now = db_now()
    told: dict[str, Any] = {
        "tenant": tenant or the_tenant(),
        "name": name,
        "kind": "webhook",
        "target": "https://hooks.example.org",
        "severities": ["warning", "critical", "recovery"],
        "workflows": [],
        "created_by": "tests",
        "created_at": now,
        "updated_at": now,
        **more,
    }
    told["severities"] = canonical.dumps(told["severities"])
    told["workflows"] = canonical.dumps(told["workflows"])
    return Channel.objects.create(**told)


def lanes() -> list[str]:
    return sorted(Message.objects.values_list("lane", flat=True))


OPERATOR = local_operator("tests")


def a_wish(name: str = "ops", *, kind: str = "webhook", to: str = "", **more: Any) -> ChannelWish:
    """What a person asks for; `to` is the address as it is typed."""
    asked: dict[str, Any] = {
        "name": name,
        "kind": kind,
        "severities": ("warning", "critical", "recovery"),
        "led": leading.read(kind, to, schemes=("json", "slack")) if to else None,
        **more,
    }
    return ChannelWish(**asked)


def a_channel(name: str = "ops", *, to: str, kind: str = "webhook", **more: Any) -> Secret:
    """A channel that delivers."""
    return channels.create(OPERATOR, a_wish(name, kind=kind, to=to, **more))


def news(key: str = "news", **more: Any) -> int:
    """Somebody is told of something."""
    said: dict[str, Any] = {
        "tenant_id": the_tenant().pk,
        "run_id": None,
        "kind": "decision.opened",
        "title": "payments waits for a decision",
        "link": "/decisions/7/",
        "dedup_key": key,
    }
    return tell(**said | more)


def deliver_all() -> int:
    """Everything that is due leaves, in this process."""
    count = 0
    for lane in [*courier.LANES, *lanes_due()]:
        while courier.deliver_next(lane):
            count += 1
    return count


def hasten() -> None:
    """What waits for its next try is due at once."""
    Message.objects.update(due_at=db_now())
