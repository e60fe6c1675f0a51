"""Begin anew: a new run with fresh keys, the old one superseded; what would happen twice is asked first."""

from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from approvals.gate import DecisionGate
from approvals.models import Decision
from runs.definition import gates
from runs.ledger import lifecycle, pausing, replaying
from runs.ledger.transitions import RunChanged
from runs.models import AuditEvent, Call, Run, Step
from runs.queries.lineage import restarts_of
from runs.queries.verbs import seen_as
from runs.queries.verify import violations
from runs.rules.postures import NotReplayable, NotRestartable
from runs.rules.verbs import NotNow
from tests.operating.redone import World, restart
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


def a_run_that_sold() -> UUID:
    """It has called the shop once, reversibly, and waits for an event."""
    run_id = runs.a_run("redone")
    runs.drain()
    return run_id


def a_run_that_deleted() -> UUID:
    """It has deleted two things, which cannot be undone, and asks whether that was right."""
    run_id = runs.a_run("redone_plan", start_key="the list")
    runs.drain()
    runs.approve(run_id)
    runs.drain()
    assert runs.state_of(run_id) == "waiting"
    return run_id


def test_a_restart_supersedes_the_old_run_and_begins_under_fresh_keys(world: World) -> None:
    old = a_run_that_sold()

    done = restart(old)
    runs.drain()

    assert (done.state, done.old_state, done.asks) == ("queued", "superseded", False)
    assert runs.state_of(old) == "superseded"
    assert runs.the_run(done.id).restart_of_id == old
    keys = set(Call.objects.values_list("key", flat=True))
    assert len(keys) == len(world.shop.heard) == 2
    assert violations([old, done.id]) == []


def test_both_runs_name_each_other(world: World) -> None:
    old = a_run_that_sold()

    new = restart(old).id

    assert [run.pk for run in restarts_of(old)] == [new]
    assert f'"restarted_as":"{new}"' in AuditEvent.objects.get(run=old, kind="run.superseded").body
    assert f'"restart_of":"{old}"' in AuditEvent.objects.get(run=new, kind="run.started").body


def test_a_final_run_stays_as_it_is_and_its_tenant_s_chain_names_the_restart(world: World) -> None:
    """I10, R37"""
    old = a_run_that_sold()
    lifecycle.cancel(runs.the_operator(), old, because="enough")
    before = Run.objects.filter(pk=old).values().get()

    new = restart(old).id
    runs.drain()

    assert Run.objects.filter(pk=old).values().get() == before
    told = AuditEvent.objects.get(run=None, kind="run.restarted")
    assert f'"run":"{old}"' in told.body
    assert f'"restarted_as":"{new}"' in told.body
    assert violations() == []


def test_a_new_run_that_is_cancelled_before_anybody_works_on_it_had_taken_the_place(
    world: World,
) -> None:
    old = a_run_that_sold()
    new = restart(old).id

    lifecycle.cancel(runs.the_operator(), new, because="enough")

    assert violations([old, new]) == []


def test_what_cannot_be_undone_is_asked_about_before_anything_begins(world: World) -> None:
    """R5"""
    old = a_run_that_deleted()

    done = restart(old)
    runs.drain()

    assert (done.state, done.old_state, done.asks) == ("waiting", "waiting", True)
    asked = runs.asked_of(runs.open_wait(done.id))
    assert (asked["kind"], asked["evidence"]["irreversible_total"]) == ("restart", 2)
    assert {one["resource"] for one in asked["evidence"]["repeated"]} == {"a", "b"}
    assert len(world.shop.heard) == 2
    assert violations([old, done.id]) == []


def test_declined_nothing_happens_and_the_old_run_is_as_it_was(world: World) -> None:
    old = a_run_that_deleted()
    before = Run.objects.filter(pk=old).values().get()
    new = restart(old).id

    runs.answer(new, "leave")

    assert runs.state_of(new) == "cancelled"
    assert Run.objects.filter(pk=old).values().get() == before
    assert violations([old, new]) == []


def test_approved_the_old_run_is_superseded_and_the_new_one_does_it_again(world: World) -> None:
    old = a_run_that_deleted()
    new = restart(old).id

    runs.answer(new, "restart")
    assert (runs.state_of(old), runs.state_of(new)) == ("superseded", "queued")
    runs.drain()
    runs.approve(new)
    runs.drain()

    assert len({key for key, _ in world.shop.heard}) == 4
    assert violations([old, new]) == []


def test_what_has_changed_since_it_was_asked_is_asked_once_more(world: World) -> None:
    old = runs.a_run("redone_plan")
    runs.drain()
    runs.approve(old, strike=["b"])
    runs.drain()
    new = restart(old).id
    replaying.replay(runs.the_operator(), old, checkpoint=0, because="tests")
    runs.drain()
    runs.approve(old)
    runs.drain()

    runs.answer(new, "restart")

    asked = runs.asked_of(runs.open_wait(new))
    assert "changed since it was approved" in asked["question"]
    assert asked["evidence"]["irreversible_total"] == 2
    assert runs.state_of(old) == "waiting"
    assert violations([old, new]) == []


def test_a_run_that_stands_ready_is_not_paused_replayed_or_restarted_once_more(
    world: World,
) -> None:
    old = a_run_that_deleted()
    new = restart(old).id

    with pytest.raises(NotNow, match="It has not begun"):
        pausing.pause(runs.the_operator(), new, because="tests")
    with pytest.raises(NotReplayable, match="It has not begun"):
        replaying.replay(runs.the_operator(), new, checkpoint=0, because="tests")
    with pytest.raises(NotRestartable, match=f"as run {new}"):
        restart(old)


def a_run_in_doubt(world: World) -> UUID:
    """Its one call left and was not answered, and nobody can look it up."""
    world.shop.answers = [ConnectionError("cut off")]
    run_id = runs.a_run("redone")
    runs.drain()
    assert runs.asked_of(runs.open_wait(run_id))["kind"] == "reconcile"
    return run_id


def test_a_call_nobody_knows_of_is_settled_or_abandoned_first(world: World) -> None:
    """R5"""
    old = a_run_in_doubt(world)
    (key,) = Call.objects.filter(run=old).values_list("key", flat=True)

    with pytest.raises(NotRestartable, match=f"what became of 1 call: {key}"):
        restart(old)
    with pytest.raises(NotRestartable, match="mp_other is none of them"):
        restart(old, abandon=["mp_other"])
    new = restart(old, abandon=[key]).id

    assert Call.objects.get(key=key).state == "abandoned"
    assert (runs.state_of(old), runs.state_of(new)) == ("superseded", "queued")
    assert violations([old, new]) == []


def test_the_start_key_of_a_superseded_run_answers_with_the_run_in_its_place(world: World) -> None:
    """I14"""
    old = a_run_that_deleted()
    new = restart(old).id
    runs.answer(new, "restart")

    known = lifecycle.start(
        runs.the_operator(), workflow="redone_plan", data={}, start_key="the list"
    )

    assert (known.id, known.created) == (new, False)


def test_a_new_run_begins_behind_a_checkpoint_with_what_was_done_before(world: World) -> None:
    """I10"""
    old = a_run_that_deleted()
    lifecycle.cancel(runs.the_operator(), old, because="enough")
    world.entered.clear()

    done = restart(old, checkpoint=1)
    runs.answer(done.id, "restart")
    runs.drain()
    runs.approve(done.id)
    runs.drain()

    assert dict(world.entered) == {"purge": 1, "tell": 1}
    rows = Step.objects.filter(run=done.id).order_by("ordinal").values_list("key", "state")
    assert list(rows) == [("propose", "succeeded"), ("purge", "succeeded"), ("tell", "waiting")]
    assert len(world.shop.heard) == 4
    assert violations([old, done.id]) == []


def test_a_restart_asks_about_what_every_run_before_it_has_done(world: World) -> None:
    first = a_run_that_deleted()
    second = restart(first).id
    runs.answer(second, "restart")
    runs.drain()

    third = restart(second).id

    assert runs.asked_of(runs.open_wait(third))["evidence"]["irreversible_total"] == 2


def test_a_run_that_was_seen_otherwise_is_not_restarted(world: World) -> None:
    old = a_run_that_sold()
    seen = seen_as(runs.the_run(old))
    pausing.pause(runs.the_operator(), old, because="meanwhile")

    with pytest.raises(RunChanged):
        restart(old, seen=seen)


@pytest.mark.parametrize("answers", ["page", "command"])
def test_the_decision_is_answered_by_page_and_by_command(
    world: World, monkeypatch: pytest.MonkeyPatch, client: Client, answers: str
) -> None:
    old = runs.a_run("redone_plan", reference="the list")
    runs.drain()
    runs.approve(old)
    runs.drain()
    monkeypatch.setitem(gates._gates, "decision", DecisionGate())
    new = restart(old).id
    asked = Decision.objects.get(run=new)

    if answers == "page":
        client.force_login(User.objects.create_superuser("ann"))
        url = f"/decisions/{asked.pk}/"
        bound = {"shown_digest": asked.digest, "comment": "agreed", "confirm": "e list"}
        done = client.post(f"{url}answers/", {**bound, "option": "restart"})
        assert done.status_code == 302
    else:
        said = ["--option", "restart", "--comment", "agreed", "--digest", asked.digest]
        call_command("decisions", "answer", str(asked.pk), *said)

    assert (runs.state_of(old), runs.state_of(new)) == ("superseded", "queued")
    assert violations([old, new]) == []


def test_a_run_whose_work_another_run_does_already_is_not_restarted_too(world: World) -> None:
    old = a_run_that_sold()
    new = restart(old).id

    with pytest.raises(NotRestartable, match=f"Run {new} does the same work"):
        restart(old)


def test_pausing_all_counts_no_run_that_only_stands_ready(world: World) -> None:
    old = a_run_that_deleted()
    ready = restart(old).id

    paused = pausing.pause_all(runs.the_operator(), because="maintenance", at_most=10)

    assert (paused.paused, paused.left) == ([old], 0)
    assert runs.state_of(ready) == "waiting"
