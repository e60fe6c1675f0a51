"""Runs chosen together: frozen, foretold, moved one by one as alone, stopped, and told of each."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from runs.engine import ordered
from runs.engine.clockwork import Clockwork
from runs.engine.ordered import SELECTIONS, Ordered
from runs.ledger import lifecycle, pausing, selecting
from runs.ledger.selecting import NotTogether
from runs.models import AuditEvent, Call, Run, Selection, SelectionItem, Wait
from runs.queries import selections
from runs.queries.actors import actor_for
from runs.queries.clock import db_now
from runs.queries.verify import violations
from runs.rules.labels import Label, LabelRefused, label_from, with_label
from runs.rules.policy import Actor, local_operator
from runs.rules.together import Together
from tests.commands.saying import manage
from tests.dashboard.builders import a_person, many_runs, start, work
from tests.durability.fences import a_held_run

pytestmark = pytest.mark.django_db(transaction=True)
OPERATOR = local_operator("tests")


def some_that_ask(amount: int) -> list[UUID]:
    found = [start("example_ask", reference=f"asks {number}") for number in range(amount)]
    work()
    return found


def choose(client: Client, verb: str, runs: list[UUID], **more: str) -> Any:
    said = {"verb": verb, "run": [str(run) for run in runs], **more}
    return client.post(reverse("runs:selection_new"), said)


def chosen(client: Client, verb: str, runs: list[UUID], **more: str) -> Any:
    """The page to which the choice leads: that of the selection, or the list with what is wrong."""
    return client.get(choose(client, verb, runs, **more).url)


def at(selection: Selection, what: str = "show") -> str:
    return reverse(f"runs:selection_{what}", args=[selection.pk])


def order(client: Client, selection: Selection, **said: str) -> Any:
    return client.post(at(selection, "begin"), {"because": "All of them.", **said})


def outcomes() -> dict[str, tuple[str, str]]:
    rows = SelectionItem.objects.select_related("run").order_by("pk")
    return {item.run.reference: (item.outcome, item.told) for item in rows}


def states() -> dict[str, str]:
    return dict(Run.objects.values_list("reference", "state"))


def omar() -> Actor:
    return actor_for(User.objects.get(username="omar"))


def test_what_is_chosen_is_frozen_and_said_before_anything_happens(operating: Client) -> None:
    runs = some_that_ask(2)
    many_runs(1, reference="ended")
    ended = Run.objects.get(reference="ended 0").pk

    page = chosen(operating, "cancel", [*runs, ended], asked_for="state=open&started=all")
    unsaid = operating.post(at(Selection.objects.get(), "begin"), {"because": ""})

    assert (page.status_code, unsaid.status_code) == (200, 422)
    assert "2 would be done" in page.text
    assert "1 refused" in page.text
    assert "It ends for good: nothing more is sent" in page.text
    assert "such a run never changes again" in page.text
    assert "state=open&amp;started=all" in page.text
    assert set(states().values()) == {"waiting", "succeeded"}
    Ordered(SELECTIONS).go_round()
    assert set(states().values()) == {"waiting", "succeeded"}


def test_each_is_moved_as_alone_in_the_name_of_who_ordered_it(operating: Client) -> None:
    runs = some_that_ask(2)
    many_runs(1, reference="ended")
    choose(operating, "cancel", [*runs, Run.objects.get(reference="ended 0").pk])
    selection = Selection.objects.get()

    order(operating, selection)
    page, again = operating.get(at(selection)), order(operating, selection)
    Ordered(SELECTIONS).go_round()

    assert "3 are left" in page.text
    assert again.status_code == 409
    assert "running already" in again.text
    assert states() == {"asks 0": "cancelled", "asks 1": "cancelled", "ended 0": "succeeded"}
    assert {said for said, _ in outcomes().values()} == {"done", "refused"}
    assert "cannot become cancelled" in outcomes()["ended 0"][1]
    selection.refresh_from_db()
    assert selection.state == "done"
    told = AuditEvent.objects.filter(kind="run.cancelled", run__in=runs)
    assert {event.actor for event in told} == {"omar"}
    assert f"All of them. (selection {selection.pk})" in told[0].body
    assert AuditEvent.objects.get(kind="selection.begun", run=None).actor == "omar"
    result = operating.get(at(selection)).text
    assert "2 done, 1 refused" in result
    assert violations(runs) == []


def test_one_that_moved_on_since_it_was_chosen_is_left_alone_and_says_so(
    operating: Client,
) -> None:
    first, second = some_that_ask(2)
    choose(operating, "cancel", [first, second])
    pausing.pause(OPERATOR, first, because="Meanwhile.")
    selection = Selection.objects.get()

    page = operating.get(at(selection))
    order(operating, selection)
    Ordered(SELECTIONS).go_round()

    assert "It has changed since it was chosen" in page.text
    assert states() == {"asks 0": "paused", "asks 1": "cancelled"}
    assert "after you looked" in outcomes()["asks 0"][1]


def test_what_was_stopped_leaves_the_rest_as_it_was(operating: Client) -> None:
    choose(operating, "cancel", some_that_ask(2))
    selection = Selection.objects.get()
    order(operating, selection)
    first, second = selections.items_due(at_most=2)
    assert selecting.do(omar(), first)

    operating.post(at(selection, "stop"))
    page = operating.get(at(selection))
    Ordered(SELECTIONS).go_round()

    assert not selecting.do(omar(), second)
    assert states() == {"asks 0": "cancelled", "asks 1": "waiting"}
    assert "1 was left as it was" in page.text
    assert "left, because it was stopped" in page.text
    assert order(operating, selection).status_code == 409


def test_an_end_that_leaves_open_what_cannot_be_undone_is_never_one_among_others(
    operating: Client,
) -> None:
    first, second = some_that_ask(2)
    Call.objects.create(**a_call_in_doubt(Run.objects.get(pk=first)))
    choose(operating, "cancel", [first, second])
    selection = Selection.objects.get()

    page = operating.get(at(selection))
    order(operating, selection)
    Ordered(SELECTIONS).go_round()

    assert "it is never ended among others" in page.text
    assert states() == {"asks 0": "waiting", "asks 1": "cancelled"}
    assert "mailbox.delete for m1" in outcomes()["asks 0"][1]


def test_a_run_in_a_step_that_calls_what_cannot_be_undone_is_cancelled_alone(
    operating: Client,
) -> None:
    (asking,) = some_that_ask(1)
    held = a_held_run("example_call_neither", receiver="http://127.0.0.1:9/").run_id
    Run.objects.filter(pk=held).update(reference="calls")
    choose(operating, "cancel", [held, asking])
    selection = Selection.objects.get()

    page = operating.get(at(selection))
    order(operating, selection)
    Ordered(SELECTIONS).go_round()
    alone = operating.post(reverse("runs:cancel", args=[held]), {"because": "Alone."})

    assert "1 would be done, 1 refused" in page.text
    assert "Cancel it alone" in page.text
    assert states() == {"calls": "running", "asks 0": "cancelled"}
    assert "calls cannot be undone" in outcomes()["calls"][1]
    assert alone.status_code == 302
    assert Run.objects.get(pk=held).cancel_requested


def a_call_in_doubt(run: Run) -> dict[str, Any]:
    """Sent, and nobody knows whether it happened."""
    return {
        "run": run,
        "step": run.step,
        "scope": run.step,
        "effect": "mailbox.delete",
        "resource": "m1",
        "key": "mp_doubtful",
        "request": "{}",
        "request_digest": "",
        "state": "ambiguous",
        "irreversible": True,
        "authority": "waiver:tests",
        "intended_at": db_now(),
        "sent_at": db_now(),
        "fence": run.fence,
    }


def test_a_retry_that_is_waited_for_is_due_at_once_and_nothing_else_is(
    operating: Client, tmp_path: Path
) -> None:
    (asking,) = some_that_ask(1)
    run = start("example_retry", folder=str(tmp_path), failures=1)
    work()
    Wait.objects.filter(run=run).update(due_at=db_now() + timedelta(hours=1))
    choose(operating, "retry", [run, asking])

    order(operating, Selection.objects.get())
    Ordered(SELECTIONS).go_round()
    due = Wait.objects.get(run=run).due_at
    Clockwork().go_round()

    assert due is not None
    assert due <= db_now()
    assert Run.objects.get(pk=run).state == "queued"
    assert "does not wait until a step is tried again" in outcomes()["asks 0"][1]
    assert AuditEvent.objects.get(kind="wait.hastened").run_id == run
    assert violations([run, asking]) == []


def test_a_run_that_failed_is_resumed_with_its_dry_run_counted(operating: Client) -> None:
    (run,) = some_that_ask(1)
    pausing.pause(OPERATOR, run, because="Not now.")

    page = chosen(operating, "resume", [run])
    order(operating, Selection.objects.get())
    Ordered(SELECTIONS).go_round()

    assert "It waits again for its decision" in page.text
    assert re.search(r"steps of 1: \d", page.text)
    assert Run.objects.get(pk=run).state == "waiting"


def test_a_label_is_set_and_taken_away_and_recorded(operating: Client) -> None:
    (run,) = some_that_ask(1)
    choose(operating, "label", [run])
    wrong = order(operating, Selection.objects.get(), name="no such!", value="x")
    order(operating, Selection.objects.get(), name="Team", value="mail", because="")
    Ordered(SELECTIONS).go_round()

    labelled = Run.objects.get(pk=run).labels
    alone = operating.post(reverse("runs:label", args=[run]), {"name": "team", "value": ""})
    said = manage("runs", "label", run, "shift=night", "--json")
    refused = manage("runs", "label", run, "schedule=x")

    assert wrong.status_code == 422
    assert labelled == {"team": "mail"}
    assert alone.status_code == 302
    assert said.json["labels"] == Run.objects.get(pk=run).labels == {"shift": "night"}
    assert (refused.code, "not set by hand" in refused.err) == (1, True)
    assert AuditEvent.objects.filter(run=run, kind="run.labelled").count() == 3
    assert violations([run]) == []


def test_what_cannot_be_a_label_is_refused() -> None:
    full = {f"l{number}": "x" for number in range(20)}

    for name in ("", "two words", "schedule", "x" * 41):
        with pytest.raises(LabelRefused):
            label_from(name, "x")
    with pytest.raises(LabelRefused, match="20 labels already"):
        with_label(full, Label(name="more", value="x"))
    assert len(with_label(full, Label(name="l1", value=""))) == 19


def test_the_file_has_a_line_for_each_and_no_formula(operating: Client) -> None:
    runs = [start("example_log", reference=name) for name in ("=HYPERLINK(1)", "plain")]

    page = chosen(operating, "export", runs)
    file = operating.get(at(Selection.objects.get(), "csv"))
    ordered_too = order(operating, Selection.objects.get())

    assert "runs.csv" in page.text
    lines = file.text.splitlines()
    assert len(lines) == 3
    assert ",'=HYPERLINK(1),example_log," in lines[1]
    assert ordered_too.status_code == 409


def test_none_of_its_pages_reads_the_inputs_of_its_runs(operating: Client) -> None:
    runs = some_that_ask(1)

    with CaptureQueriesContext(connection) as made:
        chosen(operating, "resume", runs, asked_for="q=\0")
        selection = Selection.objects.get()
        order(operating, selection)
        operating.get(at(selection))
        operating.get(at(selection, "csv"))

    whole = [each["sql"] for each in made if '"runs_run"."input",' in each["sql"]]
    assert [
        each for each in whole if "runs_selectionitem" in each or 'FROM "runs_run"' in each
    ] == []
    assert selection.asked_for == "q="


def test_all_that_a_filter_finds_are_chosen_up_to_the_limit(operating: Client) -> None:
    many_runs(3, reference="ended")
    start("example_log", reference="queued")

    choose(operating, "label", [], all="1", asked_for="state=queued")
    none = chosen(operating, "label", [])
    unknown = chosen(operating, "label", [], all="1", asked_for="state=exploded")
    many_runs(500, reference="more")
    many = chosen(operating, "label", [], all="1", asked_for="")

    assert list(SelectionItem.objects.values_list("run__reference", flat=True)) == ["queued"]
    assert "Choose at least one run" in none.text
    assert "That is not a filter" in unknown.text
    assert "more than 500 runs" in many.text
    assert operating.post(reverse("runs:selection_new"), {"verb": "approve"}).status_code == 400


def test_runs_of_others_are_not_chosen_and_of_two_tenants_not_together(operating: Client) -> None:
    theirs = start("example_log", reference="theirs", tenant="elsewhere")
    ours = start("example_log", reference="ours")

    page = chosen(operating, "cancel", [theirs, ours])

    assert "Not all of these runs are there" in page.text
    with pytest.raises(NotTogether, match="several tenants"):
        selecting.choose(OPERATOR, [theirs, ours], verb=Together.CANCEL, asked_for="")
    assert not Selection.objects.exists()


def test_rights_that_were_lost_meanwhile_are_not_used(operating: Client) -> None:
    choose(operating, "cancel", some_that_ask(2))
    order(operating, Selection.objects.get())
    first, second = selections.items_due(at_most=2)

    User.objects.get(username="omar").user_permissions.clear()
    ordered.do_item(SELECTIONS, first)
    User.objects.filter(username="omar").update(is_active=False)
    ordered.do_item(SELECTIONS, second)

    assert set(states().values()) == {"waiting"}
    told = [told for _, told in outcomes().values()]
    assert "lacks the permission" in told[0]
    assert told[1] == ordered.NOBODY
    assert Selection.objects.get().state == "done"


def test_one_that_breaks_keeps_no_other_from_its_turn(
    operating: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = some_that_ask(2)
    choose(operating, "cancel", [first, second])
    order(operating, Selection.objects.get())
    cancel = lifecycle.cancel

    def breaking(actor: Actor, run_id: UUID, **more: Any) -> str:
        if run_id == first:
            raise RuntimeError("broken\0 by what was sent")
        return cancel(actor, run_id, **more)

    monkeypatch.setattr("runs.ledger.lifecycle.cancel", breaking)
    Ordered(SELECTIONS).go_round()

    assert states() == {"asks 0": "waiting", "asks 1": "cancelled"}
    told = "It could not be done (RuntimeError); the log has the rest."
    assert outcomes()["asks 0"] == ("refused", told)


def test_whoever_may_only_look_ticks_and_orders_nothing(operating: Client) -> None:
    (run,) = some_that_ask(1)
    choose(operating, "cancel", [run])
    selection, looking = Selection.objects.get(), Client()
    looking.force_login(a_person("lea"))
    asked = {"state": "waiting"}

    tickable = operating.get(reverse("runs:run_list"), asked).text
    listed = looking.get(reverse("runs:run_list"), asked).text
    page = looking.get(at(selection))

    # Without a script too: a box in a row belongs to the form below the list.
    assert f'<input type="checkbox" name="run" value="{run}" form="chosen"' in tickable
    assert 'name="asked_for" value="state=waiting"' in tickable
    assert 'name="run"' not in listed
    assert page.status_code == 200
    assert "<textarea" not in page.text
    assert choose(looking, "cancel", []).status_code == 403
    assert looking.post(at(selection, "begin")).status_code == 403
    assert looking.post(at(selection, "stop")).status_code == 403
