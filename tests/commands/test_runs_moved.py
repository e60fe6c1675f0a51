"""`runs resume`, `pause`, `correct`: one run or all, as JSON and in lines, refused with a reason."""

import json

import pytest
from django.contrib.auth.models import User

from runs.ledger import assignments
from tests.commands.saying import manage
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_run_is_paused_and_resumed() -> None:
    run_id = runs.a_run("ask", reference="monday")
    runs.drain()

    paused = manage("runs", "pause", "monday", "--because", "not now", "--json")
    resumed = manage("runs", "resume", "monday", "--json")

    assert paused.json == {"id": str(run_id), "reference": "monday", "state": "paused"}
    assert resumed.json == {
        "id": str(run_id), "reference": "monday", "state": "waiting", "step": "paint",
        "checkpoint": 1, "cursor": 0, "kept": {"steps": 0, "keys": 0}, "in_doubt": [],
        "asks_anew": [],
    }  # fmt: skip


def test_a_run_that_is_worked_on_pauses_at_its_next_checkpoint() -> None:
    run_id = runs.a_run("count")
    with runs.a_worker() as worker:
        assert assignments.claim(worker_id=worker.id, plans=worker.plans)

        said = manage("runs", "pause", run_id, "--because", "not now")

    assert "it pauses at its next checkpoint" in said.out
    assert runs.the_run(run_id).pause_requested


def test_a_failed_run_says_from_where_it_goes_on() -> None:
    run_id = runs.a_run("fail")
    runs.drain()

    said = manage("runs", "resume", run_id, "--because", "there is paper")

    assert f"run {run_id} is queued at step fail" in said.out
    assert "from checkpoint 0; kept: 0 steps, 0 calls" in said.out


@pytest.mark.parametrize("verb", ["resume", "pause", "correct"])
def test_a_final_run_is_refused_with_a_reason(verb: str) -> None:
    run_id = runs.a_run("count")
    runs.drain()
    more = ["--input", "{}"] if verb == "correct" else []

    said = manage("runs", verb, run_id, "--because", "x", *more)

    assert said.code == 1
    assert "never changes again" in said.err


def test_all_are_paused_and_resumed_together() -> None:
    ids = [runs.a_run("count") for _ in range(3)]

    paused = manage("runs", "pause", "--all", "--because", "maintenance", "--json").json
    told = manage("runs", "resume", "--all", "--dry-run", "--json").json["would"]
    listed = manage("runs", "resume", "--all", "--dry-run")
    assert {runs.state_of(run_id) for run_id in ids} == {"paused"}
    resumed = manage("runs", "resume", "--all")

    assert [(one["id"], one["refusal"]) for one in told] == [(str(each), "") for each in ids]
    assert "3 runs would go on, 0 would not" in listed.out
    assert listed.out.count("It is queued at its first incomplete step") == 3
    assert set(paused["paused"]) == {str(run_id) for run_id in ids}
    assert "3 runs resumed" in resumed.out
    assert {runs.state_of(run_id) for run_id in ids} == {"queued"}


def test_one_run_or_all_of_them_has_to_be_said() -> None:
    run_id = runs.a_run("count")

    assert manage("runs", "pause", "--because", "x").code == 2
    assert manage("runs", "pause", run_id, "--all", "--because", "x").code == 2
    assert manage("runs", "resume", run_id, "--tenant", "default").code == 2
    assert runs.state_of(run_id) == "queued"


def test_an_input_is_corrected() -> None:
    run_id = runs.a_run("count", {"name": "ann"})
    manage("runs", "pause", run_id, "--because", "wrong name")

    said = manage(
        "runs", "correct", run_id, "--because", "it is bob", "--input", '{"name": "bob"}', "--json"
    )

    assert (said.json["state"], said.json["fields"]) == ("paused", ["name"])
    assert json.loads(runs.the_run(run_id).input)["name"] == "bob"


def test_an_input_that_does_not_fit_is_refused_field_by_field() -> None:
    run_id = runs.a_run("count")
    manage("runs", "pause", run_id, "--because", "x")

    said = manage("runs", "correct", run_id, "--because", "x", "--input", '{"upto": "many"}')

    assert said.code == 1
    assert "upto:" in said.err


def test_a_user_without_the_permission_moves_nothing() -> None:
    run_id = runs.a_run("count")
    User.objects.create_user("bob")

    for words in (["pause", run_id], ["pause", "--all"], ["resume", run_id], ["resume", "--all"],
                  ["resume", "--all", "--dry-run"]):  # fmt: skip
        said = manage("runs", *words, "--because", "I want to", "--as", "bob")
        assert said.code == 1
        assert "permission" in said.err or "no run" in said.err

    assert runs.state_of(run_id) == "queued"
