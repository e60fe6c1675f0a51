"""Monitors and ping keys for tests, and requests as clients send them."""

import hashlib
from datetime import datetime
from typing import Any
from uuid import uuid4

from monitors.models import Monitor, Ping, PingKey
from runs.queries.clock import db_now
from tests.support.runs import the_tenant

KEY = "fqOOd6-F4MMNuCEnzTU01w"


def a_monitor(**more: Any) -> Monitor:
    """One that pings every hour with ten minutes of grace, unless it is said otherwise."""
    now = db_now()
    told: dict[str, Any] = {
        "tenant": the_tenant(),
        "code": uuid4(),
        "name": "Nightly backup",
        "period": 3600.0,
        "grace": 600.0,
        "state_since": now,
        "created_by": "tests",
        "created_at": now,
        "updated_at": now,
        **more,
    }
    told["plain"] = not told.get("cron") and told.get("filters", "{}") == "{}"
    return Monitor.objects.create(**told)


def a_key(key: str = KEY, *, expires_at: datetime | None = None, tenant: str = "") -> PingKey:
    return PingKey.objects.create(
        tenant=the_tenant(tenant) if tenant else the_tenant(),
        digest=hashlib.sha256(key.encode()).hexdigest(),
        hint=key[:4],
        created_by="tests",
        created_at=db_now(),
        expires_at=expires_at,
    )


def again(monitor: Monitor) -> Monitor:
    return Monitor.objects.get(pk=monitor.pk)


def last_ping(monitor: Monitor) -> Ping:
    return monitor.pings.order_by("-n")[0]
