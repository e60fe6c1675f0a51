"""The pages that move a run: what is offered, what would happen, refusals, and who may."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from runs.ledger import pausing
from runs.models import AuditEvent, Run
from runs.rules import canonical
from runs.rules.policy import local_operator
from tests.commands.saying import manage
from tests.dashboard.builders import a_person, start, work

pytestmark = pytest.mark.django_db(transaction=True)
VERBS = ("resume", "pause", "correct", "cancel")


def address(verb: str, run_id: object) -> str:
    return reverse(f"runs:{verb}", args=[run_id])


def page_of(client: Client, run_id: object) -> str:
    return client.get(reverse("runs:run_show", args=[run_id])).text


def paused(**given: Any) -> Any:
    run = start("example_ask", **given)
    work()
    pausing.pause(local_operator("tests"), run, because="not now")
    return run


def test_a_run_offers_what_can_be_done_and_says_why_not_the_rest(operating: Client) -> None:
    text = page_of(operating, paused())

    assert address("resume", Run.objects.get().pk) in text
    assert "<strong>Pause</strong>: It is paused already." in text


def test_whoever_may_not_operate_is_offered_nothing(looking: Client) -> None:
    run = paused()

    assert address("resume", run) not in page_of(looking, run)
    assert looking.get(address("resume", run)).status_code == 403
    assert looking.post(address("resume", run)).status_code == 403


@pytest.mark.parametrize("verb", VERBS)
def test_looking_at_a_verb_changes_nothing(operating: Client, verb: str) -> None:
    run = paused()
    before = Run.objects.get(pk=run).seq

    page = operating.get(address(verb, run))

    assert page.status_code == 200
    assert Run.objects.get(pk=run).seq == before


def test_a_run_is_paused_with_a_reason(operating: Client) -> None:
    run = start("example_ask")
    work()

    assert operating.post(address("pause", run), {"because": ""}).status_code == 422
    answer = operating.post(address("pause", run), {"because": "not now"}, follow=True)

    assert "Paused." in answer.text
    assert Run.objects.get(pk=run).reason == "not now"
    assert AuditEvent.objects.get(run=run, kind="run.paused").actor == "omar"


def test_resuming_shows_what_is_kept_before_it_is_done(operating: Client) -> None:
    run = paused()

    page = operating.get(address("resume", run))

    assert "Dry run" in page.text
    assert "It waits again for its decision" in page.text
    operating.post(address("resume", run), {"because": ""})
    assert Run.objects.get(pk=run).state == "waiting"


def test_a_run_that_moved_on_since_it_was_seen_is_left_alone(operating: Client) -> None:
    run = paused()
    form = operating.get(address("resume", run)).context["form"]
    seen = form.initial["seen"]
    pausing_again = {"because": "again", "seen": seen}
    operating.post(address("resume", run), {"seen": seen})

    late = operating.post(address("pause", run), pausing_again)

    assert late.status_code == 409
    assert Run.objects.get(pk=run).state == "waiting"


def test_what_cannot_be_done_now_is_said_and_not_done(operating: Client) -> None:
    run = start("example_log")
    work()

    page = operating.get(address("cancel", run))
    answer = operating.post(address("pause", run), {"because": "not now"})

    assert "never changes again" in page.text
    assert answer.status_code == 409
    assert "never changes again" in answer.text


def test_the_input_is_corrected_field_by_field(operating: Client) -> None:
    run = paused(question="Now?")

    page = operating.get(address("correct", run))
    wrong = operating.post(address("correct", run), {"because": "x", "in_question": "Now?"})
    right = operating.post(
        address("correct", run), {"because": "a typo", "in_question": "Then?"}, follow=True
    )

    assert 'value="Now?"' in page.text
    assert wrong.status_code == 422
    assert "exactly this input already" in wrong.text
    assert "Corrected: question." in right.text


def test_a_text_is_made_empty_by_saying_so_and_not_by_clearing_its_field(
    operating: Client,
) -> None:
    run = paused(question="Now?")
    said = {"because": "no question", "in_question": ""}

    page = operating.get(address("correct", run)).text
    cleared = operating.post(address("correct", run), said, follow=True)
    default = canonical.loads(Run.objects.get(pk=run).input)["question"]
    both = operating.post(
        address("correct", run), said | {"in_question": "Then?", "empty_question": "on"}
    )
    operating.post(address("correct", run), said | {"empty_question": "on"})

    assert "Question: make it the empty text" in page
    assert f"Only cleared, it is its default again: “{default}”." in page
    assert "Corrected: question." in cleared.text
    assert both.status_code == 422
    assert "not both" in both.text
    assert canonical.loads(Run.objects.get(pk=run).input)["question"] == ""
    assert "make it the empty text" not in operating.get(address("correct", run)).text


def test_values_of_a_correction_are_hidden_from_whoever_may_not_see_payloads(
    client: Client,
) -> None:
    run = paused(question="a secret plan")
    client.force_login(a_person("omar", "operate", "view_payloads"))
    client.post(address("correct", run), {"because": "a typo", "in_question": "a dark secret"})
    client.force_login(a_person("mara", "operate"))

    events = client.get(reverse("runs:run_show", args=[run]), {"tab": "events"}).text
    exported = client.get(reverse("runs:run_audit", args=[run])).getvalue().decode()

    assert "run.input_corrected" in events
    assert "secret" not in events + exported
    assert client.get(address("correct", run)).status_code == 403


def test_all_runs_are_paused_and_resumed_together(operating: Client) -> None:
    runs = [start("example_ask") for _ in range(3)]
    work()

    assert "3 runs you see can move" in operating.get(reverse("runs:pause_all")).text
    operating.post(reverse("runs:pause_all"), {"because": "maintenance"})
    assert set(Run.objects.values_list("state", flat=True)) == {"paused"}
    operating.post(reverse("runs:resume_all"))

    assert set(Run.objects.filter(pk__in=runs).values_list("state", flat=True)) == {"waiting"}
    assert "Nothing that was paused together" in operating.get(reverse("runs:resume_all")).text


def test_another_tenants_run_is_not_there(client: Client) -> None:
    run = start("example_ask", tenant="north")
    client.force_login(a_person("omar", "operate", "view_payloads"))

    for verb in VERBS:
        assert client.get(address(verb, run)).status_code == 404
        assert client.post(address(verb, run), {"because": "mine now"}).status_code == 404
    client.post(reverse("runs:pause_all"), {"because": "mine now"})

    assert Run.objects.get(pk=run).state == "queued"


def test_the_page_and_the_command_say_why_a_run_went_on_each_time(operating: Client) -> None:
    run = start("inbox_triage", inbox="/no/such/inbox.tsv")
    work()
    operating.post(address("resume", run), {"because": "it is there now"})
    work()

    text = page_of(operating, run)
    shown = manage("runs", "why", run, "--json").json

    assert "resumed by omar: it is there now" in text
    assert "behind checkpoint 0" in text
    assert "1 resume<" in text
    (line,) = shown["went_on"]
    assert (line["trigger"], line["fence"], line["kept_steps"]) == ("resume", 2, 0)
    assert line["worker"]
    assert shown["tried"]["resumes"] == 1
    assert shown["tried"]["attempts"] == 2


def test_a_final_run_says_once_that_nothing_can_be_done(operating: Client) -> None:
    run = start("example_log")
    work()

    assert page_of(operating, run).count("never changes again") == 1
