"""A person has what waits for its next attempt tried now: asked in place, the safe way first."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse

from runs.models import AuditEvent, Run, Wait
from runs.queries.clock import db_now
from runs.queries.verbs import seen_as
from tests.commands.saying import manage
from tests.dashboard.builders import start, work
from tests.dashboard.test_run_page import page_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(tmp_path: Path) -> UUID:
    """It has failed once, and waits to be tried again."""
    run_id = start("example_retry", folder=str(tmp_path), failures=1)
    work()
    Wait.objects.filter(run_id=run_id).update(due_at=db_now() + timedelta(hours=1))
    return run_id


def test_the_page_asks_in_place_and_the_focus_is_on_waiting(operating: Client, run: UUID) -> None:
    page = page_of(operating, run)
    asked = page_of(operating, run, ask="retry")

    assert 'href="?ask=retry"' in page.text
    assert 'id="ask"' not in page.text
    assert "Retry <em>fail_then_succeed</em> now?" in asked.text
    assert "autofocus>Keep waiting</a>" in asked.text
    assert AuditEvent.objects.filter(run_id=run, kind="wait.hastened").count() == 0


def test_it_is_due_once_a_person_has_said_so(operating: Client, run: UUID) -> None:
    seen = seen_as(Run.objects.get(pk=run))
    before = Wait.objects.get(run_id=run).due_at

    first = operating.post(reverse("runs:retry", args=[run]), {"seen": seen}, follow=True)
    again = operating.post(reverse("runs:retry", args=[run]), {"seen": seen})

    after = Wait.objects.get(run_id=run).due_at
    assert before is not None
    assert after is not None
    assert after < before
    assert "fail_then_succeed is due now" in first.text
    assert again.status_code == 409
    assert AuditEvent.objects.get(run_id=run, kind="wait.hastened").actor == "omar"


def test_the_command_does_the_same_once(run: UUID) -> None:
    told = manage("runs", "retry", run, "--because", "the receiver is back", "--json")
    again = manage("runs", "retry", run)

    assert told.json["step"] == "fail_then_succeed"
    event = AuditEvent.objects.get(run_id=run, kind="wait.hastened")
    assert "the receiver is back" in event.body
    assert (again.code, "is due" in again.err) == (1, True)


def test_whoever_may_only_look_is_not_asked(looking: Client, run: UUID) -> None:
    asked = page_of(looking, run, ask="retry")

    assert "Keep waiting" not in asked.text
    assert looking.post(reverse("runs:retry", args=[run])).status_code == 403


def test_a_run_that_waits_for_nothing_of_the_kind_says_why_not(operating: Client) -> None:
    run = start("example_ask")
    work()

    page = page_of(operating, run, ask="retry")
    refused = operating.post(reverse("runs:retry", args=[run]))

    assert "Keep waiting" not in page.text
    assert "It does not wait until a step is tried again." in page.text
    assert refused.status_code == 409
