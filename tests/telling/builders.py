"""Builds channels, and people who are told."""

from typing import Any

from runs.ledger.tenants import DEFAULT
from runs.models import Channel, Message, Tenant
from runs.queries.clock import db_now
from runs.rules import canonical


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
