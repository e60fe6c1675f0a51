"""`runs list`, `show`, `why` and `audit`: what a person or a program is told of a run."""

import re
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from runs.models import AuditEvent, Membership
from tests.commands.saying import manage
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


def a_finished_run(reference: str = "done") -> UUID:
    run_id = runs.a_run("count", reference=reference)
    runs.drain()
    return run_id


def test_show_gives_state_why_and_every_step() -> None:
    run_id = runs.a_run("ask", reference="monday", labels={"team": "mail"})
    runs.drain()

    shown = manage("runs", "show", run_id, "--json").json

    assert (shown["id"], shown["state"], shown["labels"]) == (
        str(run_id),
        "waiting",
        {"team": "mail"},
    )
    assert shown["why"]["sentence"] == "Waits for a decision: Which colour?"
    assert shown["why"]["since"]
    assert (shown["why"]["next"], shown["why"]["next_at"]) == (
        "Nothing happens until somebody decides.",
        None,
    )
    assert [(step["key"], step["state"], step["attempt"]) for step in shown["steps"]] == [
        ("paint", "waiting", 1)
    ]


def test_steps_that_have_not_begun_are_pending() -> None:
    run_id = runs.a_run("count")

    steps = manage("runs", "show", run_id, "--json").json["steps"]

    assert [(step["key"], step["state"]) for step in steps] == [
        ("count", "pending"),
        ("greet", "pending"),
    ]


def test_show_for_people_names_the_same() -> None:
    run_id = a_finished_run(reference="monday")

    said = manage("runs", "show", "monday").out

    assert f"count version 2, monday, run {run_id}" in said
    assert re.search(r"1\. count +succeeded +3 of 3", said)
    assert "Succeeded" in said


def test_show_says_what_went_wrong() -> None:
    run_id = runs.a_run("fail")
    runs.drain()

    assert "RuntimeError: out of paper" in manage("runs", "show", run_id).out


def test_why_says_what_happens_next_and_when() -> None:
    run_id = runs.a_run("nap")
    runs.drain()

    said = manage("runs", "why", run_id)
    why = manage("runs", "why", run_id, "--json").json["why"]

    assert "sleeps" in said.out
    assert re.search(r"next: It goes on, at 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC", said.out)
    assert why["next_at"] > why["since"]


def test_list_is_the_newest_first() -> None:
    ids = [str(runs.a_run("count")) for _ in range(3)]

    listed = manage("runs", "list", "--json").json["runs"]

    assert [run["id"] for run in listed] == ids[::-1]
    assert listed[0]["why"]["sentence"].startswith("Queued at step count (1/2)")


def test_list_keeps_to_a_state_a_workflow_and_a_number() -> None:
    done = a_finished_run()
    queued, asks = runs.a_run("count"), runs.a_run("ask")

    def ids(*words: str) -> set[str]:
        return {run["id"] for run in manage("runs", "list", "--json", *words).json["runs"]}

    assert ids("--state", "succeeded") == {str(done)}
    assert ids("--state", "open") == {str(queued), str(asks)}
    assert ids("--workflow", "ask") == {str(asks)}
    assert ids("--limit", "1") == {str(asks)}


def test_list_for_people_has_a_line_a_run_and_one_for_none() -> None:
    assert "No such runs" in manage("runs", "list").out

    run_id = runs.a_run("count", reference="monday")

    assert re.search(f"{run_id}  queued +count monday", manage("runs", "list").out)


@pytest.mark.parametrize("limit", ["0", "1001"])
def test_a_list_has_bounds(limit: str) -> None:
    said = manage("runs", "list", "--limit", limit)

    assert said.code == 2
    assert "--limit is 1 to 1,000" in said.err


def test_audit_gives_every_event_the_line_and_that_the_chain_holds() -> None:
    run_id = a_finished_run()

    told = manage("runs", "audit", run_id, "--json").json

    assert told["verified"] is True
    assert [event["kind"] for event in told["events"]][:3] == [
        "run.started",
        "run.claimed",
        "step.started",
    ]
    assert told["events"][-1]["body"] == told["audit_line"]
    assert told["audit_line"]["state"] == "succeeded"
    assert told["head"] == runs.the_run(run_id).head


def test_audit_for_people_ends_with_the_chain_and_the_line() -> None:
    run_id = a_finished_run()

    said = manage("runs", "audit", run_id).out

    assert re.search(r"   1  .* UTC  run\.started +local operator|tests", said)
    assert re.search(r"The chain holds: \d+ events, head [0-9a-f]{64}", said)
    assert "Audit line: succeeded, done" in said
    assert re.search(r"  greet +succeeded +attempt 1", said)


def test_a_broken_chain_is_said_and_ends_with_1() -> None:
    run_id = a_finished_run()

    with transaction.atomic():
        runs.without_guards()
        AuditEvent.objects.filter(run=run_id, seq=2).update(actor="somebody else")
        said = manage("runs", "audit", run_id)
        as_json = manage("runs", "audit", run_id, "--json")
        transaction.set_rollback(True)

    assert said.code == as_json.code == 1
    assert "The chain is broken at event 2" in said.out
    assert (as_json.json["verified"], as_json.json["first_bad"]) == (False, 2)


def test_an_erased_body_is_said_to_be_erased() -> None:
    run_id = runs.a_run("count")
    AuditEvent.objects.filter(run=run_id).update(body="", salt="")

    assert "(erased)" in manage("runs", "audit", run_id).out
    assert manage("runs", "audit", run_id, "--json").json["events"][0]["body"] is None


# Naming a run


def test_a_run_is_named_by_its_id_with_and_without_hyphens_and_in_capitals() -> None:
    run_id = runs.a_run("count")

    for name in (str(run_id), run_id.hex, str(run_id).upper()):
        assert manage("runs", "show", name, "--json").json["id"] == str(run_id)


def test_a_run_is_named_by_the_beginning_or_the_end_of_its_id() -> None:
    run_id, _ = runs.a_run("count"), runs.a_run("count")

    for name in (str(run_id)[:-1], run_id.hex[-6:], str(run_id)[-14:]):
        assert manage("runs", "show", name, "--json").json["id"] == str(run_id)


def test_a_reference_means_its_newest_run() -> None:
    runs.a_run("count", reference="daily")
    newest = runs.a_run("count", reference="daily")

    assert manage("runs", "show", "daily", "--json").json["id"] == str(newest)


def test_a_part_that_fits_several_runs_lists_them() -> None:
    ids = [str(runs.a_run("count")) for _ in range(2)]

    said = manage("runs", "show", ids[0][:6])

    assert said.code == 2
    assert all(run_id in said.err for run_id in ids)


@pytest.mark.parametrize(
    "name", ["nothing", "0" * 8, "abc", "00000000-0000-7000-8000-000000000000"]
)
def test_what_names_no_run_ends_with_1(name: str) -> None:
    runs.a_run("count")

    said = manage("runs", "show", name)

    assert said.code == 1
    assert f"There is no run '{name}'" in said.err


def test_runs_of_another_tenant_are_not_there_for_a_user() -> None:
    run_id = runs.a_run("count", reference="theirs", tenant="other")
    ann = User.objects.create_user("ann")
    Membership.objects.create(user=ann, tenant=runs.the_tenant())

    for verb in ("show", "why", "audit"):
        assert manage("runs", verb, run_id, "--as", "ann").code == 1
    assert manage("runs", "list", "--as", "ann", "--json").json == {"runs": []}
    assert manage("runs", "show", run_id).code == 0
