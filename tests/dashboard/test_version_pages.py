"""Versions on the pages: who runs under which, whose code is missing, what a person is asked about it."""

from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse

from tests.dashboard.builders import a_person
from tests.operating import releases
from tests.operating.releases import begun, go_on, posting, release, writing
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)

STEPS = [writing("weigh", "weight"), writing("pack", "box"), posting("post")]
CHANGED = [writing("weigh", "weight"), writing("pack", "crate"), posting("post")]


@pytest.fixture(autouse=True)
def _empty() -> None:
    releases.ENTERED.clear()


def shown(client: Client, run_id: UUID) -> str:
    return client.get(reverse("runs:run_show", args=[run_id])).text


def test_the_workflows_page_says_whose_code_is_there_and_how_many_runs_are_open(
    looking: Client,
) -> None:
    with release((1, STEPS)):
        begun(until="pack")

    with release((1, STEPS), (2, CHANGED)), runs.a_worker():
        page = looking.get(reverse("runs:workflow_show", args=[releases.NAME])).text

    assert page.count("here, known to 1 live worker") == 2
    assert ">v1</a>" in page
    assert ">v2</a>" in page


def test_a_run_whose_plan_no_worker_knows_says_so_in_a_banner(looking: Client) -> None:
    with release((1, STEPS)):
        run_id = begun(until="pack")

    with release((1, CHANGED)), runs.a_worker():
        page = shown(looking, run_id)

    assert "Version 1 has another plan in the code that runs now" in page


def test_a_run_that_was_taken_along_shows_its_steps_under_the_new_plan(looking: Client) -> None:
    with release((1, STEPS)):
        run_id = begun(until="post")

    renamed = [STEPS[0], writing("box_up", "box", was="pack"), STEPS[2]]
    with release((2, renamed)):
        go_on()
        page = shown(looking, run_id)

    assert f"{releases.NAME} v2" in page
    assert "box_up" in page


def test_a_person_decides_on_a_page_how_a_run_goes_on(client: Client) -> None:
    client.force_login(a_person("dora", "operate", "decide", "view_payloads"))
    with release((1, STEPS)):
        run_id = begun(until="post")

    with release((2, CHANGED)):
        go_on()
        wait = runs.open_wait(run_id)
        page = client.get(reverse("approvals:decision_of_wait", args=[wait.pk]), follow=True).text

    assert "Step pack is finished, and version 2 changes it. How does the run go on?" in page
    assert "It was begun under version 1" in page
    assert "Wait for version 1" in page
    assert "Go on from checkpoint 1 under version 2" in page
