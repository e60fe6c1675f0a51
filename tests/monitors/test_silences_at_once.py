"""A hundred silences at one moment, and a webhook that never answers: mail leaves in time all the same."""

import socket
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from monitors.models import Alert, Blindness, Incident, Monitor
from runs.ledger import channels
from runs.models import Channel, Message, Tenant
from runs.queries.clock import db_now
from runs.queries.verify import violations
from tests.monitors.troubles import a_monitor
from tests.support import runs
from tests.support.programs import Site
from tests.support.waiting import eventually, goal
from tests.telling.builders import OPERATOR, a_wish
from tests.telling.conftest import allowed

__all__ = ["allowed"]
pytestmark = [pytest.mark.processes, pytest.mark.long, pytest.mark.usefixtures("allowed")]
AT_ONCE = 100
WITHIN = goal(10)


@pytest.fixture
def black_hole() -> Iterator[str]:
    """Takes connections and says nothing, ever."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def told_by(tenant: Tenant, kind: str, to: str) -> None:
    channels.create(OPERATOR, a_wish(kind, kind=kind, to=to), tenant=tenant.slug)


def a_watched_site(site: Site) -> None:
    site.settings |= {"CHANNEL_NETWORKS": "127.0.0.0/8", "BEAT_SECONDS": "1"}
    web = site.start_web()
    site.start("watch", SITE_URL=web.url)
    eventually(
        lambda: Monitor.objects.filter(kind="watch", verdict="alive").exists(),
        what="watch hears its own pings",
    )


def silent_together(tenants: list[Tenant]) -> datetime:
    """Monitors that beat until a moment ago, and whose absence counts from one moment on."""
    deadline = db_now() + timedelta(seconds=6)
    for number in range(AT_ONCE):
        a_monitor(
            f"host-{number}",
            tenant=tenants[number % len(tenants)],
            period=3.0,
            grace=3.0,
            n_pings=1,
            last_ping_at=deadline - timedelta(seconds=6),
            expected_at=deadline - timedelta(seconds=3),
            alert_at=deadline,
            judge_at=deadline - timedelta(seconds=3),
        )
    return deadline


def mails_by_incident() -> dict[int, datetime]:
    """When the first mail about each incident left."""
    found: dict[int, datetime] = {}
    rows = Message.objects.filter(kind="alert", state="delivered").order_by("settled_at")
    hooks = {f"channel {pk}" for pk in _webhooks()}
    for message in rows.exclude(lane__in=hooks):
        assert message.settled_at is not None
        found.setdefault(int(message.dedup_key.split(":")[1]), message.settled_at)
    return found


def _webhooks() -> list[int]:
    return list(Channel.objects.filter(kind="webhook").values_list("pk", flat=True))


@pytest.mark.parametrize(
    ("tenants", "messages"), [(1, 21), (10, AT_ONCE)], ids=["one tenant", "ten tenants"]
)
def test_mail_leaves_within_ten_seconds_of_each_deadline(
    site: Site, black_hole: str, tenants: int, messages: int
) -> None:
    owners = [runs.the_tenant(f"tenant-{number}") for number in range(tenants)]
    told_by(owners[0], "webhook", black_hole)
    for owner in owners:
        told_by(owner, "mail", "ops@example.org")
    a_watched_site(site)

    deadline = silent_together(owners)
    eventually(
        lambda: Alert.objects.filter(monitor__kind="outside").count() == AT_ONCE,
        what="every silence is judged",
    )
    eventually(lambda: len(mails_by_incident()) == messages, what="every mail leaves")

    left = mails_by_incident()
    waited = [
        left[alert.incident_id] - deadline
        for alert in Alert.objects.filter(monitor__kind="outside")
    ]
    assert Incident.objects.filter(alerts__monitor__kind="outside").distinct().count() == messages
    judged = Alert.objects.filter(monitor__kind="outside").latest("opened_at").opened_at - deadline
    told = f"the last judged after {judged}; mail: first {min(waited)}, last {max(waited)}"
    print(told)  # noqa: T201
    assert max(waited).total_seconds() < WITHIN
    assert not Blindness.objects.filter(from_at__gte=deadline).exists()
    assert violations() == []
