"""Every address of the urlconf, crawled as each role: looking writes nothing, tenants know only theirs."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.urls import reverse

from runs.definition import registry
from runs.rules.roles import ROLES
from tests.approvals import timed, workflows
from tests.dashboard.addresses import Address, Examples, addresses, somebody
from tests.schedules.builders import made as schedulable

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

# Who calls these is no browser, so no page can be made to send them; each with what it asks for.
EXEMPT = {
    "runs:event_receive": "the key of a sender, in a header",
    "monitors:beats": "the signature of the installation's own secret, in a header",
}
# The addresses whose GET is meant to write, each with the reason.
WRITING: dict[str, str] = {}
# What belongs to no tenant: plans and workers are the installation's, links are their own proof, and
# so are the addresses of badges; a published status page is there for everybody.
NOBODYS = {"name", "version", "worker_id", "who", "token", "page", "signed", "tag", "kind"}
WRITES = re.compile(r"^\s*(INSERT|UPDATE|DELETE|REPLACE|TRUNCATE)\b", re.IGNORECASE)
OF_SESSIONS = "django_session"
STRANGER = "other tenant"


@pytest.fixture(autouse=True)
def _workflows() -> Iterator[None]:
    known = registry.latest("example_artifact")
    with registry.isolated():
        for workflow in (known, *workflows.made(), *timed.made(), *schedulable()):
            registry.register(workflow)
        yield


@contextmanager
def heard() -> Iterator[list[str]]:
    """Every statement that writes a row, but for those of sessions."""
    said: list[str] = []

    def listen(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if WRITES.match(sql) and OF_SESSIONS not in sql:
            said.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(listen):
        yield said


def every_row() -> dict[str, Any]:
    """All that the database holds, but for sessions."""
    return {
        model._meta.label: sorted(map(str, model._default_manager.values_list()))
        for model in apps.get_models(include_auto_created=True)
        if model is not Session
    }


def as_each_role() -> dict[str, Client]:
    clients = {"anonymous": Client()}
    for role in ROLES:
        clients[role.word] = Client(raise_request_exception=False)
        clients[role.word].force_login(somebody(role.word, role.group))
    return clients


def test_whoever_looks_changes_no_row_at_any_address() -> None:
    """GET as each role, HEAD as who may see all, and as htmx asks for a part."""
    examples = Examples()
    urls = {each: each.url(examples) for each in addresses() if each.view not in WRITING}
    clients = as_each_role()
    wrong: list[str] = []
    before = every_row()

    for each, url in urls.items():
        for role, client in clients.items():
            wrong += looked(each, client.get, url, as_role=role)
        wrong += looked(each, clients["administrator"].head, url, as_role="administrator, HEAD")
        wrong += looked(
            each, clients["administrator"].get, url, as_role="htmx", headers={"HX-Request": "true"}
        )

    assert wrong == []
    assert every_row() == before
    assert len(urls) > 50


def looked(each: Address, ask: Any, url: str, *, as_role: str, **more: Any) -> list[str]:
    with heard() as writes:
        answer = ask(url, **more)
        if answer.streaming:
            b"".join(answer.streaming_content)
    content = b"" if answer.streaming else answer.content
    found = [f"{each.view} as {as_role} writes: {sql[:80]}" for sql in writes]
    if answer.status_code >= 500 and each.view != "readyz":
        found.append(f"{each.view} as {as_role} answers {answer.status_code}")
    if b'id="places"' in content and b'data-key="g r"' not in content:
        found.append(
            f"{each.view} as {as_role} has lost its places: it gives their name to another"
        )
    return found


def test_another_tenants_things_do_not_exist_whatever_is_asked_of_them() -> None:
    """Somebody who may do everything, elsewhere: 404 where an object is named, and no row changes."""
    examples = Examples()
    urls = {
        each: each.url(examples)
        for each in addresses()
        if set(each.parameters) - NOBODYS and each.view not in EXEMPT
    }
    stranger = Client(raise_request_exception=False)
    stranger.force_login(somebody("stranger", *(role.group for role in ROLES), tenant="elsewhere"))
    before = every_row()

    answers = {
        f"{method} {each.view}": getattr(stranger, method)(url).status_code
        for each, url in urls.items()
        for method in ("get", "head", "post")
    }

    # 405 says nothing of an object: it is the same for one that is nowhere.
    assert {name: code for name, code in answers.items() if code not in (404, 405)} == {}
    for each in urls:
        assert 404 in (answers[f"get {each.view}"], answers[f"post {each.view}"]), each.view
    assert every_row() == before
    assert len(urls) > 30


def test_exactly_these_addresses_take_a_post_without_a_token() -> None:
    found = {each.view for each in addresses() if each.exempt}

    assert found == set(EXEMPT)


def test_an_address_without_an_example_fails_the_crawl() -> None:
    unheard_of = Address(view="new:thing", route="/things/<int:thing_id>/", exempt=False)

    with pytest.raises(LookupError, match="make an example of it"):
        unheard_of.url(Examples())


@pytest.mark.parametrize("number", ["1" * 5000, "²", "-1", "one"])
def test_a_number_that_none_can_be_is_a_conflict_and_no_failure(number: str) -> None:
    examples = Examples()
    client = Client(raise_request_exception=False)
    client.force_login(somebody("olga", *(role.group for role in ROLES)))
    url = reverse("monitors:monitor_resume", args=[examples.made["monitor_id"]()])

    assert client.post(url, {"expected_version": number}).status_code < 500
