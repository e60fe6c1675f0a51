"""The audit of one step: how often it was entered and why, what left, what it read and wrote."""

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from runs.ledger import waking
from runs.models import Wait
from runs.queries.clock import db_now
from tests.dashboard.builders import start, work

pytestmark = pytest.mark.django_db(transaction=True)


def let_waits_fall_due() -> None:
    for wait in Wait.objects.filter(state="open", kind="retry"):
        Wait.objects.filter(pk=wait.pk).update(due_at=db_now())
        assert waking.expire(wait.pk)


def test_a_step_that_failed_shows_every_attempt_with_its_reason(
    operating: Client, tmp_path: Path
) -> None:
    run = start("example_retry", folder=str(tmp_path), failures=1)
    work()
    let_waits_fall_due()
    work()

    page = operating.get(reverse("runs:step_show", args=[run, "fail_then_succeed"]))

    assert "Entered 2 times; one result was accepted." in page.text
    assert "failure 1 of 1, on purpose" in page.text
    assert "is due" in page.text


def test_a_step_that_was_not_reached_says_so(looking: Client) -> None:
    run = start("inbox_triage", inbox="anything.tsv")

    page = looking.get(reverse("runs:step_show", args=[run, "purge"]))

    assert "Not reached yet; needs step propose." in page.text
    assert "irreversible" in page.text


def test_beside_the_run_only_the_drawer_is_sent(looking: Client) -> None:
    run = start("example_log")

    part = looking.get(
        reverse("runs:step_show", args=[run, "count"]), headers={"HX-Request": "true"}
    )

    assert "<html" not in part.text
    assert "drawer-body" in part.text


def test_what_a_step_wrote_is_shown_and_downloaded_whole(operating: Client) -> None:
    run = start("example_log", count=3)
    work()

    page = operating.get(reverse("runs:step_show", args=[run, "count"]))
    whole = operating.get(reverse("runs:facts", args=[run, "count", "written"]))

    assert "all of it shown" in page.text
    assert whole.json() == {"counted": 3}


def test_what_a_step_wrote_is_hidden_from_whoever_may_not_see_it(looking: Client) -> None:
    run = start("example_log", count=3)
    work()

    page = looking.get(reverse("runs:step_show", args=[run, "count"]))
    whole = looking.get(reverse("runs:facts", args=[run, "count", "written"]))

    assert "counted&quot;: 3" not in page.text
    assert whole.status_code == 403


def test_a_step_that_the_plan_does_not_have_is_not_found(looking: Client) -> None:
    run = start("example_log")

    assert looking.get(reverse("runs:step_show", args=[run, "nonsense"])).status_code == 404
