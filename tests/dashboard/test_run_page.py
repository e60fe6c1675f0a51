"""One run's page: its sentence, its tabs, its polling, and what it hides from whom."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from runs.models import Artifact, AuditEvent, Run
from tests.dashboard.builders import start, work

pytestmark = pytest.mark.django_db(transaction=True)
PART = {"HX-Request": "true"}
TABS = ("steps", "events", "effects", "checkpoints", "waits", "files", "input", "audit")


def page_of(client: Client, run_id: object, **query: str) -> Any:
    return client.get(reverse("runs:run_show", args=[run_id]), query)


def test_the_page_says_first_what_the_run_waits_for(looking: Client) -> None:
    run = start("example_ask", reference="order-8812", question="Shall it be paid?")
    work()

    page = page_of(looking, run)

    assert "Waits for a decision: Shall it be paid?" in page.text
    assert "order-8812" in page.text


def test_a_failed_run_shows_its_error_above_everything(looking: Client) -> None:
    run = start("inbox_triage", inbox="/no/such/inbox.tsv")
    work()

    page = page_of(looking, run)

    assert page.text.index("no such file") < page.text.index('class="timeline"')


def test_a_queued_run_says_that_nobody_works(looking: Client) -> None:
    page = page_of(looking, start("example_log"))

    assert "Queued at step count" in page.text
    assert "no worker is alive" in page.text


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_opens_within_its_budget_of_queries(
    operating: Client, tab: str, django_assert_max_num_queries: Any
) -> None:
    run = start("example_retry", folder="/tmp", failures=0)  # noqa: S108
    work()
    page_of(operating, run)

    with django_assert_max_num_queries(30):
        page = page_of(operating, run, tab=tab)

    assert page.status_code == 200
    assert f'id="tab-{tab}"' in page.text


def test_a_tab_that_does_not_exist_is_the_first(looking: Client) -> None:
    page = page_of(looking, start("example_log"), tab="../../etc/passwd")

    assert page.status_code == 200
    assert "How it is tried" in page.text


def test_a_poll_is_answered_204_until_something_was_recorded(
    looking: Client, django_assert_max_num_queries: Any
) -> None:
    run = start("example_log")
    seen = str(Run.objects.get(pk=run).seq)

    with django_assert_max_num_queries(8):
        before = looking.get(reverse("runs:run_show", args=[run]), {"v": seen}, headers=PART)
    work()
    after = looking.get(reverse("runs:run_show", args=[run]), {"v": seen}, headers=PART)

    assert before.status_code == 204
    assert after.status_code == 200
    assert "<html" not in after.text


def test_a_final_run_is_not_polled(looking: Client) -> None:
    run = start("example_log")
    assert 'hx-trigger="live-fast from:body"' in page_of(looking, run).text
    work()

    page = page_of(looking, run)

    assert "hx-get" not in page.text.split('id="run"')[1]


def test_payloads_are_hidden_from_whoever_may_not_see_them(looking: Client) -> None:
    run = start("example_ask", question="a secret plan")

    page = page_of(looking, run, tab="input")

    assert "a secret plan" not in page.text
    assert "It takes the permission" in page.text or "it takes the permission" in page.text
    assert Run.objects.get(pk=run).input_digest in page.text


def test_payloads_are_shown_to_whoever_may(operating: Client) -> None:
    run = start("example_ask", question="a secret plan")

    assert "a secret plan" in page_of(operating, run, tab="input").text


def test_a_file_is_downloaded_and_never_run_by_the_browser(operating: Client) -> None:
    run = start("example_artifact", size=1000)
    work()
    file = Artifact.objects.get(run_id=run)

    answer = operating.get(reverse("runs:artifact_show", args=[run, file.pk]))

    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert "attachment" in answer.headers["Content-Disposition"]
    assert len(answer.getvalue()) == 1000


def test_a_file_is_refused_with_the_permission_that_is_missing(looking: Client) -> None:
    run = start("example_artifact", size=1000)
    work()
    file = Artifact.objects.get(run_id=run)

    answer = looking.get(reverse("runs:artifact_show", args=[run, file.pk]))

    assert answer.status_code == 403
    assert "view_payloads" in answer.text


def test_the_audit_chain_is_hashed_anew_and_verified(looking: Client) -> None:
    run = start("example_log")
    work()

    page = page_of(looking, run, tab="audit")

    assert "chain verified" in page.text
    assert "Audit line" in page.text


def test_a_chain_that_lost_an_event_names_the_place(looking: Client) -> None:
    run = start("example_ask")
    work()
    AuditEvent.objects.filter(run_id=run, seq=2).update(actor="nobody")

    page = page_of(looking, run, tab="audit")

    assert "The chain is broken at event 2" in page.text


def test_the_exported_chain_has_every_event(looking: Client) -> None:
    run = start("example_log")
    work()

    answer = looking.get(reverse("runs:run_audit", args=[run]))

    lines = answer.getvalue().splitlines()
    assert len(lines) == Run.objects.get(pk=run).seq


def test_a_run_that_is_not_there_explains_itself(looking: Client) -> None:
    page = page_of(looking, "01975c31-8f7a-7c3e-9a12-4bfe56d09a12")

    assert page.status_code == 404
    assert "There is nothing here" in page.text
