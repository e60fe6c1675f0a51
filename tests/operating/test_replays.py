"""Redo from an earlier checkpoint: the same run, the same keys, a new generation of its steps."""

from typing import Any
from uuid import UUID

import pytest
from django.db import Error, transaction

from runs.ledger import lifecycle, pausing, replaying
from runs.models import Call, Checkpoint, Judgement, Replay, Run, Step, Wait
from runs.queries.verify import violations
from runs.rules.postures import NotReplayable
from tests.operating.redone import World
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


def replay(run_id: UUID, checkpoint: int, **more: object) -> replaying.Replayed:
    return replaying.replay(
        runs.the_operator(),
        run_id,
        checkpoint=checkpoint,
        because="tests",
        **more,  # type: ignore[arg-type]
    )


def behind(run_id: UUID, step: str) -> int:
    """The checkpoint of the whole step that stands."""
    rows = Checkpoint.objects.filter(run=run_id, step=step, finished=True)
    return rows.order_by("-number").values_list("number", flat=True)[0]


def a_run_that_asks_at_its_end() -> UUID:
    run_id = runs.a_run("redone")
    runs.drain()
    runs.deliver("paid", str(run_id), {"euros": 5})
    runs.drain()
    assert runs.state_of(run_id) == "waiting"
    return run_id


def test_a_replay_redoes_the_later_steps_and_sends_nothing_again(world: World) -> None:
    run_id = a_run_that_asks_at_its_end()

    done = replay(run_id, behind(run_id, "count"))
    runs.drain()
    runs.answer(run_id, "yes")
    runs.drain()

    assert (done.generation, done.step) == (2, "sell")
    assert runs.state_of(run_id) == "succeeded"
    assert world.entered == {"count": 1, "sell": 2, "hear": 3, "conclude": 3}
    assert len(world.shop.heard) == 1
    call = Call.objects.get(run=run_id)
    assert (call.sends, call.reused, call.generation) == (1, 1, 2)
    assert violations([run_id]) == []


def test_the_old_rows_stay_superseded_and_the_kept_ones_stand(world: World) -> None:
    """I1"""
    run_id = a_run_that_asks_at_its_end()

    replay(run_id, behind(run_id, "sell"))
    runs.drain()

    rows = Step.objects.filter(run=run_id).order_by("generation", "ordinal")
    assert [(row.key, row.generation, row.superseded) for row in rows] == [
        ("count", 1, False),
        ("sell", 1, False),
        ("hear", 1, True),
        ("conclude", 1, True),
        ("hear", 2, False),
        ("conclude", 2, False),
    ]
    assert Replay.objects.get(run=run_id).ordinal == 3
    assert violations([run_id]) == []


def test_what_the_old_generation_asked_is_withdrawn_in_the_same_commit(world: World) -> None:
    """R3"""
    run_id = a_run_that_asks_at_its_end()
    asked = runs.open_wait(run_id)

    replay(run_id, behind(run_id, "sell"))

    asked.refresh_from_db()
    assert (asked.state, asked.closed_by) == ("withdrawn", "tests")
    assert not Wait.objects.filter(run=run_id, state="open").exists()
    assert violations([run_id]) == []


def test_a_redone_step_sees_no_fact_of_the_future(world: World) -> None:
    run_id = a_run_that_asks_at_its_end()
    replay(run_id, behind(run_id, "count"))

    assert set(runs.facts_of(run_id)) == {"counted"}


def test_an_event_that_was_used_before_is_used_again_and_not_waited_for(world: World) -> None:
    """R14"""
    run_id = a_run_that_asks_at_its_end()

    replay(run_id, behind(run_id, "sell"))
    runs.drain()

    assert runs.the_run(run_id).step == "conclude"
    assert runs.facts_of(run_id)["heard"] == {"euros": 5}
    assert violations([run_id]) == []


def test_judgements_are_kept_unless_the_person_says_forget(world: World) -> None:
    """R12"""
    run_id = a_run_that_asks_at_its_end()

    replay(run_id, 0)
    runs.drain()
    assert set(world.judged.values()) == {1}

    replay(run_id, 0, forget_judgements=True)
    runs.drain()
    assert set(world.judged.values()) == {2}
    assert Judgement.objects.filter(run=run_id, generation=3).count() == 6
    assert violations([run_id]) == []


def test_a_page_is_a_place_to_begin_at_when_nothing_else_of_it_counts(world: World) -> None:
    run_id = a_run_that_asks_at_its_end()
    second = Checkpoint.objects.get(run=run_id, step="count", cursor_ordinal=4, finished=False)

    replay(run_id, second.number, forget_judgements=True)
    runs.drain()

    assert dict(world.judged) == {"0": 1, "1": 1, "2": 1, "3": 1, "4": 2, "5": 2}
    assert violations([run_id]) == []


def test_a_parked_place_is_none_to_begin_at(world: World) -> None:
    run_id = a_run_that_asks_at_its_end()
    parked = Checkpoint.objects.filter(run=run_id, step="hear").exclude(awaiting="").get()

    with pytest.raises(NotReplayable, match="cannot be entered in its middle"):
        replay(run_id, parked.number)


def test_a_checkpoint_of_a_superseded_step_is_none_to_begin_at(world: World) -> None:
    run_id = a_run_that_asks_at_its_end()
    first = behind(run_id, "sell")
    replay(run_id, 0)

    with pytest.raises(NotReplayable, match="which a replay has superseded"):
        replay(run_id, first)
    with pytest.raises(NotReplayable, match="has no checkpoint 99"):
        replay(run_id, 99)


def test_another_request_for_the_same_resource_asks_and_shows_both(world: World) -> None:
    """I5"""
    run_id = a_run_that_asks_at_its_end()
    world.wants = {"amount": 2}

    replay(run_id, behind(run_id, "count"))
    runs.drain()
    asked = runs.asked_of(runs.open_wait(run_id))
    runs.answer(run_id, "keep_first")
    runs.drain()

    assert asked["kind"] == "conflict"
    assert (asked["evidence"]["first"], asked["evidence"]["new"]) == ({"amount": 1}, {"amount": 2})
    assert [option["key"] for option in asked["options"]] == ["keep_first", "send_new", "stop"]
    assert len(world.shop.heard) == 1
    assert runs.the_run(run_id).step == "conclude"
    assert violations([run_id]) == []


def test_a_person_may_let_the_new_request_be_sent_as_a_call_of_its_own(world: World) -> None:
    run_id = a_run_that_asks_at_its_end()
    world.wants = {"amount": 2}
    replay(run_id, behind(run_id, "count"))
    runs.drain()

    runs.answer(run_id, "send_new")
    runs.drain()

    assert [request for _, request in world.shop.heard] == [{"amount": 1}, {"amount": 2}]
    resources = Call.objects.filter(run=run_id).order_by("id").values_list("resource", flat=True)
    assert resources[0] == "book"
    assert resources[1].startswith("book #")
    assert runs.the_run(run_id).step == "conclude"
    assert violations([run_id]) == []


def test_a_call_that_is_not_named_any_more_asks_before_its_step_ends(world: World) -> None:
    """R2"""
    run_id = a_run_that_asks_at_its_end()
    world.resource = "pen"

    replay(run_id, behind(run_id, "count"))
    runs.drain()
    asked = runs.asked_of(runs.open_wait(run_id))
    runs.answer(run_id, "keep")
    runs.drain()

    assert asked["kind"] == "orphaned call"
    assert runs.the_run(run_id).step == "conclude"
    assert len(world.shop.heard) == 2
    assert violations([run_id]) == []


def test_a_kept_plan_is_asked_about_anew_and_applied_without_a_second_call(world: World) -> None:
    """R3"""
    run_id = runs.a_run("redone_plan")
    runs.drain()
    runs.approve(run_id)
    runs.drain()
    assert len(world.shop.heard) == 2

    replay(run_id, behind(run_id, "propose"))
    runs.drain()
    assert runs.asked_of(runs.open_wait(run_id))["plan"]["generation"] == 1
    runs.approve(run_id)
    runs.drain()

    assert len(world.shop.heard) == 2
    assert runs.facts_of(run_id)["gone"]["confirmed"] == 2
    assert violations([run_id]) == []


def test_a_final_run_is_not_replayed_but_offers_a_new_one(world: World) -> None:
    """I10"""
    run_id = a_run_that_asks_at_its_end()
    lifecycle.cancel(runs.the_operator(), run_id, because="enough")

    with pytest.raises(NotReplayable, match="Begin a new run from checkpoint 4 instead"):
        replay(run_id, behind(run_id, "count"))


def test_a_paused_run_is_replayed_and_goes_on(world: World) -> None:
    run_id = a_run_that_asks_at_its_end()
    pausing.pause(runs.the_operator(), run_id, because="look")

    replay(run_id, behind(run_id, "sell"))
    runs.drain()

    assert runs.state_of(run_id) == "waiting"
    assert violations([run_id]) == []


def test_a_queued_run_is_replayed_and_placed_once(world: World) -> None:
    run_id = a_run_that_asks_at_its_end()
    replay(run_id, behind(run_id, "sell"))

    replay(run_id, 0)
    runs.drain()

    assert runs.the_run(run_id).generation == 3
    assert world.entered["count"] == 2
    assert violations([run_id]) == []


def test_a_call_nobody_knows_of_is_settled_as_before_and_never_sent_unasked(world: World) -> None:
    """I6"""
    world.shop.answers = [ConnectionError("cut off")]
    run_id = runs.a_run("redone")
    runs.drain()
    assert runs.asked_of(runs.open_wait(run_id))["kind"] == "reconcile"

    replay(run_id, behind(run_id, "count"))
    runs.drain()

    wait = runs.open_wait(run_id)
    assert (runs.asked_of(wait)["kind"], wait.generation, len(world.shop.heard)) == (
        "reconcile",
        2,
        1,
    )
    assert violations([run_id]) == []


def test_verify_names_a_generation_that_no_replay_began(world: World) -> None:
    """I1"""
    run_id = a_run_that_asks_at_its_end()
    with transaction.atomic():
        runs.without_guards()
        Run.objects.filter(pk=run_id).update(generation=2)
        found = violations([run_id])
        transaction.set_rollback(True)

    assert any("It is in generation 2; replays began []" in each.text for each in found)


def test_the_database_refuses_a_step_of_a_generation_that_has_not_begun(world: World) -> None:
    """I1"""
    run_id = a_run_that_asks_at_its_end()
    fence = runs.the_run(run_id).fence
    step = Step(run_id=run_id, key="more", scope="more", ordinal=9, generation=2, fence=fence)

    with pytest.raises(Error, match="I1: a step begins in the generation of its run"):
        step.save()


def test_the_database_refuses_to_change_what_a_replay_has_superseded(world: World) -> None:
    """I1"""
    run_id = a_run_that_asks_at_its_end()
    replay(run_id, 0)
    old = Step.objects.filter(run=run_id, superseded=True)

    with pytest.raises(Error, match="I1: what a replay has superseded never changes again"):
        old.update(superseded=False)


def test_while_a_worker_is_at_it_a_replay_is_refused_in_words(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []

    def tries(_: World, run: Any) -> None:
        with pytest.raises(NotReplayable) as caught:
            replay(run.id, 0)
        refused.append(str(caught.value))

    monkeypatch.setattr(World, "enters", tries)
    runs.a_run("begins_again", {"sells": True})
    world.fails = -1
    runs.drain()

    assert refused == ["A worker is working on this run. Pause it first, then replay it."]
