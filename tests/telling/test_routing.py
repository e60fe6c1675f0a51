"""Who is told of what: news takes the channels that fit its severity and workflow, and mail where it must."""

from typing import Any

import pytest

from runs.ledger.telling import tell
from runs.models import Message, Tenant
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.channels import KEY_AT_MOST
from tests.approvals.builders import a_person
from tests.telling.builders import a_row, lanes, the_tenant

pytestmark = pytest.mark.django_db


def told(**more: Any) -> int:
    news: dict[str, Any] = {
        "tenant_id": the_tenant().pk,
        "run_id": None,
        "kind": "decision.opened",
        "title": "payments waits for a decision",
        "link": "/decisions/7/",
        "dedup_key": "decision.opened:7",
    }
    return tell(**news | more)


@pytest.mark.parametrize(
    ("severity", "workflow", "fits"),
    [
        ("warning", "payments", ["all", "payments"]),
        ("warning", "refunds", ["all"]),
        ("critical", "payments", ["all", "on call", "payments"]),
        ("critical", "", ["all", "on call", "payments"]),
        ("info", "payments", []),
    ],
)
def test_news_takes_the_channels_of_its_severity_and_workflow(
    severity: str, workflow: str, fits: list[str]
) -> None:
    rows = {
        "all": a_row("all"),
        "on call": a_row("on call", severities=["critical"]),
        "payments": a_row("payments", workflows=["payments"]),
    }
    a_row("paused", state="paused")
    a_row("removed", state="removed", removed_at=db_now())
    a_row("foreign", tenant=Tenant.objects.create(slug="other", name="Other"))

    count = told(severity=severity, workflow=workflow)

    assert lanes() == sorted(f"channel {rows[name].pk}" for name in fits)
    assert count == len(fits)


def test_it_is_put_once_however_often_it_is_told() -> None:
    a_row("one")
    a_row("two")

    told()
    told()

    assert Message.objects.count() == 2


def test_title_and_link_are_all_that_leaves_and_a_title_is_one_line() -> None:
    a_row()

    told(title="payments waits\r\nBcc: everybody@example.org " + "x" * 400)

    payload = canonical.loads(Message.objects.get().payload)
    assert set(payload) == {"title", "link", "severity", "at"}
    assert "\n" not in payload["title"]
    assert len(payload["title"]) == 200
    assert payload["link"].startswith("http")
    assert payload["link"].endswith("/decisions/7/")


def test_without_a_living_channel_all_who_may_act_get_mail() -> None:
    a_person("mara", email="mara@example.org")
    a_person("omar", permissions=["operate"], email="omar@example.org")
    a_person("vera", permissions=[], email="vera@example.org")
    dead = a_row(dead_at=db_now())

    told()

    assert lanes() == [f"channel {dead.pk}", "mail"]
    mail = canonical.loads(Message.objects.get(lane="mail").payload)
    assert mail["to"] == ["mara@example.org", "omar@example.org"]


def test_with_a_living_channel_only_those_who_are_named_get_mail() -> None:
    named = a_person("mara", email="mara@example.org")
    a_person("omar", groups=["night shift"], email="omar@example.org")
    a_person("olga", email="olga@example.org")
    a_row()

    told()
    told(dedup_key="another", users=[named.pk], groups=["night shift"])

    mail = canonical.loads(Message.objects.get(lane="mail").payload)
    assert mail["to"] == ["mara@example.org", "omar@example.org"]


def test_a_long_key_stays_unique_for_each_lane() -> None:
    a_row("one")
    a_row("two")

    told(dedup_key="k" * 400)
    told(dedup_key="k" * 401)

    keys = set(Message.objects.values_list("dedup_key", flat=True))
    assert len(keys) == 4
    assert all(len(key) <= KEY_AT_MOST for key in keys)
