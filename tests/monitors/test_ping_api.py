"""healthchecks' public ping behaviours: a request, and what is answered and remembered."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from pytest_django import Settings

from monitors.models import Monitor, Ping
from monitors.rules.received import BODY_KEPT
from runs.models import AuditEvent
from tests.monitors.pinged import KEY, a_key, a_monitor, again, last_ping

pytestmark = pytest.mark.django_db
CODE = UUID("5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278")
RID = "123e4567-e89b-12d3-a456-426614174000"
OK, MALFORMED, RUN_ID = (200, "OK"), (400, "invalid url format"), (400, "invalid uuid format")
MISSING, AMBIGUOUS, CREATED = (404, "not found"), (409, "ambiguous slug"), (201, "Created")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A request, its answer, and the kind of the ping that was kept, if one was."""

    path: str
    answer: tuple[int, str] = OK
    method: str = "GET"
    kept: str = "success"
    state: str = "up"
    monitor: dict[str, Any] = field(default_factory=dict)
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


U, S = f"/ping/{CODE}", f"/ping/{KEY}/backup"
NOTHING: dict[str, Any] = {"kept": "", "state": "new"}
PAUSED: dict[str, Any] = {"state": "paused", "paused_at": "2026-01-01T00:00:00Z"}
CASES = {
    "success": Case(path=U),
    "success, with a slash": Case(path=f"{U}/"),
    "success, at the root": Case(path=f"/{CODE}"),
    "success by HEAD": Case(path=U, method="HEAD", answer=(200, "")),
    "success by POST": Case(path=U, method="POST", body=b"hello world"),
    "start": Case(path=f"{U}/start", kept="start", state="new"),
    "start by POST": Case(path=f"{U}/start", kept="start", state="new", method="POST"),
    "fail": Case(path=f"{U}/fail", kept="fail", state="down"),
    "fail at the root": Case(path=f"/{CODE}/fail", kept="fail", state="down"),
    "log": Case(path=f"{U}/log", kept="log", state="new", method="POST", body=b"a line"),
    "exit status 0": Case(path=f"{U}/0"),
    "exit status 1": Case(path=f"{U}/1", kept="fail", state="down"),
    "exit status 255": Case(path=f"{U}/255", kept="fail", state="down"),
    "exit status 256": Case(path=f"{U}/256", answer=MALFORMED, **NOTHING),
    "an endless exit status": Case(path=f"{U}/{'9' * 400}", answer=MALFORMED, **NOTHING),
    "a run id": Case(path=f"{U}?rid={RID}"),
    "a run id in capitals": Case(path=f"{U}?rid={RID.upper()}"),
    "a run id that is none": Case(path=f"{U}?rid=7", answer=RUN_ID, **NOTHING),
    "a run id without hyphens": Case(
        path=f"{U}?rid={RID.replace('-', '')}", answer=RUN_ID, **NOTHING
    ),
    "an unknown code": Case(
        path="/ping/07c2f548-9850-4b27-af5d-6c9dc157ec02", answer=MISSING, **NOTHING
    ),
    "a removed monitor": Case(
        path=U, answer=MISSING, monitor={"removed_at": "2026-01-01T00:00:00Z"}, **NOTHING
    ),
    "POST only, by GET": Case(path=U, monitor={"post_only": True}, kept="ignored", state="new"),
    "POST only, by HEAD": Case(
        path=U, method="HEAD", answer=(200, ""), monitor={"post_only": True}, kept="ignored",
        state="new",
    ),
    "POST only, by POST": Case(path=U, method="POST", monitor={"post_only": True}),
    "paused, success": Case(path=U, monitor=PAUSED),
    "paused, fail": Case(path=f"{U}/fail", monitor=PAUSED, kept="fail", state="down"),
    "paused, start": Case(path=f"{U}/start", monitor=PAUSED, kept="start", state="paused"),
    "paused until it is resumed": Case(
        path=U, monitor={**PAUSED, "manual_resume": True}, kept="ignored", state="paused"
    ),
    "paused until a time": Case(
        path=U, monitor={**PAUSED, "paused_until": "2036-01-01T00:00:00Z"}, kept="ignored",
        state="paused",
    ),
    "down, success": Case(path=U, monitor={"state": "down"}),
    "slug": Case(path=S),
    "slug at the root": Case(path=f"/{KEY}/backup"),
    "slug by HEAD": Case(path=S, method="HEAD", answer=(200, "")),
    "slug by POST": Case(path=S, method="POST", body=b"done"),
    "slug, start": Case(path=f"{S}/start", kept="start", state="new"),
    "slug, fail": Case(path=f"{S}/fail", kept="fail", state="down"),
    "slug, log": Case(path=f"{S}/log", kept="log", state="new"),
    "slug, exit status 0": Case(path=f"{S}/0"),
    "slug, exit status 3": Case(path=f"{S}/3", kept="fail", state="down"),
    "slug, exit status 256": Case(path=f"{S}/256", answer=MALFORMED, **NOTHING),
    "slug, a run id": Case(path=f"{S}/start?rid={RID}", kept="start", state="new"),
    "slug, there already, create=1": Case(path=f"{S}?create=1"),
    "an unknown slug": Case(path=f"/ping/{KEY}/other", answer=MISSING, **NOTHING),
    "an unknown slug, create=0": Case(
        path=f"/ping/{KEY}/other?create=0", answer=MISSING, **NOTHING
    ),
    "a wrong key": Case(path=f"/ping/{'r' * 22}/backup", answer=MISSING, **NOTHING),
    "a wrong key, create=1": Case(
        path=f"/ping/{'r' * 22}/backup?create=1", answer=MISSING, **NOTHING
    ),
    "create=1 under a slug that none may have": Case(
        path=f"/ping/{KEY}/Back_UP?create=1", answer=MALFORMED, **NOTHING
    ),
    "a script of a browser asks first": Case(
        path=U, method="OPTIONS", answer=(204, ""), **NOTHING
    ),
    "another method": Case(path=U, method="PUT", answer=(405, "method not allowed"), **NOTHING),
    "words of success": Case(
        path=U, method="POST", body=b"Backup: all good",
        monitor={"filters": '{"body":true,"fail":["error"],"success":["good"]}'},
    ),
    "words of failure before those of success": Case(
        path=U, method="POST", body=b"good, but one error", kept="fail", state="down",
        monitor={"filters": '{"body":true,"fail":["error"],"success":["good"]}'},
    ),
    "words of a start": Case(
        path=U, method="POST", body=b"backup begins", kept="start", state="new",
        monitor={"filters": '{"body":true,"start":["begins"],"success":["good"]}'},
    ),
    "none of the words": Case(
        path=U, method="POST", body=b"nothing to say", kept="ignored", state="new",
        monitor={"filters": '{"body":true,"success":["good"]}'},
    ),
    "words do not matter where the address says it": Case(
        path=f"{U}/fail", method="POST", body=b"all good", kept="fail", state="down",
        monitor={"filters": '{"body":true,"success":["good"]}'},
    ),
    "words in the subject": Case(
        path=U, method="POST", body=b"error in the body alone", headers={"Subject": "good night"},
        monitor={"filters": '{"subject":true,"fail":["error"],"success":["good"]}'},
    ),
    "words in the subject of a posted mail": Case(
        path=U, method="POST", kept="fail", state="down",
        body=b"Subject: =?utf-8?q?Backup_error?=\r\n\r\nall good", headers={"Subject": "good"},
        monitor={"filters": '{"subject":true,"fail":["error"],"success":["good"]}'},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_request_is_answered_as_by_healthchecks(name: str) -> None:
    case = CASES[name]
    a_key()
    monitor = a_monitor(code=CODE, slug="backup", **case.monitor)

    answer = sent(case)

    assert (answer.status_code, answer.content.decode()) == case.answer
    assert [ping.kind for ping in Ping.objects.all()] == ([case.kept] if case.kept else [])
    kept_state = "paused" if case.monitor.get("state") == "paused" and not case.kept else case.state
    assert again(monitor).state == kept_state
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["Ping-Body-Limit"] == str(BODY_KEPT)
    assert "no-cache" in answer.headers["Cache-Control"]
    assert not answer.cookies


def sent(case: Case) -> Any:
    """Without a token, as no client outside has one."""
    media = "message/rfc822" if case.body.startswith(b"Subject:") else "text/plain"
    return Client(enforce_csrf_checks=True).generic(
        case.method, case.path, case.body, content_type=media, headers=case.headers
    )


def test_a_ping_says_what_came_with_it(client: Client) -> None:
    monitor = a_monitor()

    client.post(
        f"/ping/{monitor.code}/7?rid={RID}",
        "out of space",
        content_type="text/plain",
        headers={"User-Agent": "a" * 300},
        REMOTE_ADDR="192.0.2.7",
    )

    ping = last_ping(monitor)
    assert (ping.n, ping.method, ping.scheme, ping.address) == (1, "POST", "http", "192.0.2.7")
    assert (ping.exit_status, str(ping.rid), ping.agent) == (7, RID, "a" * 200)
    assert (bytes(ping.body), ping.body_size) == (b"out of space", 12)
    assert ping.at == again(monitor).last_ping_at


def test_two_monitors_of_one_slug_are_ambiguous_and_neither_is_pinged(client: Client) -> None:
    a_key()
    a_monitor(slug="backup")
    a_monitor(slug="backup")

    answer = client.get(S)

    assert (answer.status_code, answer.content.decode()) == AMBIGUOUS
    assert not Ping.objects.exists()


def test_a_slug_of_another_tenant_is_not_found(client: Client) -> None:
    a_key(tenant="elsewhere")
    a_monitor(slug="backup")

    assert client.get(S).status_code == 404


def test_the_first_ping_makes_its_monitor_where_it_asks_for_it(client: Client) -> None:
    a_key()

    first = client.get(f"/ping/{KEY}/srv01/start?create=1")
    second = client.get(f"/ping/{KEY}/srv01?create=1")

    made = Monitor.objects.get()
    assert (first.status_code, first.content.decode()) == CREATED
    assert (second.status_code, second.content.decode()) == OK
    assert (made.slug, made.name, made.period, made.grace) == ("srv01", "srv01", 86400, 3600)
    assert (made.state, made.n_pings) == ("up", 2)
    assert [ping.kind for ping in made.pings.order_by("n")] == ["start", "success"]
    told = AuditEvent.objects.get(kind="monitor.provided")
    assert str(made.code) not in told.body


def test_one_key_makes_no_more_monitors_than_it_may(client: Client, settings: Settings) -> None:
    settings.PING_KEY_MONITORS = 1
    a_key()
    made = client.get(f"/ping/{KEY}/srv01?create=1")

    refused = client.get(f"/ping/{KEY}/srv02?create=1")

    assert made.status_code == 201
    assert refused.status_code == 403
    assert refused.content.decode().startswith(
        "monitor limit reached: pings of this key may make 1"
    )
    assert client.get(f"/ping/{KEY}/srv01?create=1").status_code == 200
    assert (Monitor.objects.get().n_pings, Ping.objects.count()) == (2, 2)
    assert AuditEvent.objects.filter(kind="monitor.provided").count() == 1
    Monitor.objects.update(removed_at=Monitor.objects.get().created_at, slug="")
    assert client.get(f"/ping/{KEY}/srv02?create=1").status_code == 201
