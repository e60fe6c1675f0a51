"""The workflows' pages, and starting a run from one."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from runs.definition import registry
from runs.definition.places import Place
from runs.models import Run, Tenant
from tests.dashboard.builders import many_runs, start

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _a_tenant(db: None) -> None:
    Tenant.objects.get_or_create(slug="default")


def test_every_registered_workflow_is_listed(looking: Client) -> None:
    page = looking.get(reverse("runs:workflow_list"))

    assert "inbox_triage" in page.text
    assert "Sort an inbox, delete what a person agrees is spam, report." in page.text


def test_a_module_that_could_not_be_read_is_named_with_its_line(
    looking: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = registry.Failure(
        module="tidy.workflows",
        message="tidy.workflows cannot be imported: SyntaxError: invalid syntax",
        hint="Mend it.",
        place=Place(file="tidy/workflows.py", line=7),
    )
    monkeypatch.setattr(registry, "failures", lambda: [failure])

    page = looking.get(reverse("runs:workflow_list")).text

    assert "SyntaxError: invalid syntax" in page
    assert "tidy/workflows.py:7" in page


def test_a_workflow_shows_its_plan_with_what_cannot_be_undone(looking: Client) -> None:
    page = looking.get(reverse("runs:workflow_show", args=["inbox_triage"]))

    assert "mailbox.delete" in page.text
    assert "approval of deletions by approvers" in page.text
    assert "It takes the permission" in page.text


def test_the_start_form_is_made_from_the_input_and_starts_a_run(operating: Client) -> None:
    form = operating.get(reverse("runs:workflow_show", args=["inbox_triage"]))

    answer = operating.post(
        reverse("runs:start", args=["inbox_triage"]),
        {"in_inbox": "box.tsv", "in_judge": "scoring", "reference": "Monday"},
    )

    run = Run.objects.get()
    assert "Path of a TSV, CSV or mbox file" in form.text
    assert answer.headers["Location"] == reverse("runs:run_show", args=[run.pk])
    assert (run.reference, run.started_by, run.state) == ("Monday", "omar", "queued")
    assert '"inbox":"box.tsv"' in run.input


def test_a_wrong_input_comes_back_with_a_sentence_at_its_field(operating: Client) -> None:
    answer = operating.post(
        reverse("runs:start", args=["example_log"]), {"in_count": "many", "in_pause": "0"}
    )

    assert answer.status_code == 422
    assert "many" in answer.text
    assert not Run.objects.exists()


def test_the_same_start_key_leads_to_the_same_run(operating: Client) -> None:
    asked = {"in_count": "5", "in_pause": "0", "start_key": "once"}

    first = operating.post(reverse("runs:start", args=["example_log"]), asked)
    again = operating.post(reverse("runs:start", args=["example_log"]), asked)
    other = operating.post(reverse("runs:start", args=["example_log"]), asked | {"in_count": "6"})

    assert first.headers["Location"] == again.headers["Location"]
    assert other.status_code == 422
    assert "Use another key" in other.text
    assert Run.objects.count() == 1


def test_who_may_not_operate_starts_nothing(looking: Client) -> None:
    answer = looking.post(reverse("runs:start", args=["example_log"]), {"in_count": "5"})

    assert answer.status_code == 403
    assert "operate" in answer.text
    assert not Run.objects.exists()


def test_a_workflow_whose_code_is_gone_is_still_readable(
    looking: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    start("example_log")
    monkeypatch.setattr("runs.definition.registry.all_workflows", list)

    page = looking.get(reverse("runs:workflow_show", args=["example_log"]))

    assert "count" in page.text
    assert "Only the highest version whose code is here can be started" in page.text


def test_a_workflow_says_how_long_its_runs_took(looking: Client) -> None:
    assert "succeeded, half took" not in looking.get("/workflows/example_log/").text
    many_runs(3, apart=timedelta(minutes=1))

    page = looking.get("/workflows/example_log/").text

    assert (
        "Of the last 3 runs that succeeded, half took 1 m or less, 19 of 20 took 2 m or less"
        in page
    )
    assert "<polyline" in page


def test_an_unknown_workflow_is_not_found(looking: Client) -> None:
    assert looking.get(reverse("runs:workflow_show", args=["nonsense"])).status_code == 404
