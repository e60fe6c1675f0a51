"""Restarts that a worker, its death or its plan decides: who makes the move, and when nobody does."""

import time
from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest

from runs.engine.clockwork import Clockwork
from runs.engine.faults import Died
from runs.ledger import lifecycle, pausing, restarting, resuming, takeover
from runs.models import Run, Wait
from runs.queries.lineage import restarts_of
from runs.queries.verify import violations
from runs.rules.postures import NotRestartable
from tests.operating.redone import World, restart
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


def test_with_a_worker_at_it_the_holder_makes_the_move_at_its_next_checkpoint(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R17"""
    old, said = runs.a_run("redone"), []

    def asked_meanwhile(run: object) -> None:
        monkeypatch.setattr(World, "enters", lambda *_: None)
        said.append(restart(old))
        assert runs.state_of(old) == "running"

    monkeypatch.setattr(World, "enters", lambda _, run: asked_meanwhile(run))
    runs.drain()

    assert (said[0].state, said[0].old_state) == ("waiting", "running")
    assert runs.state_of(old) == "superseded"
    new = said[0].id
    runs.drain()
    assert runs.the_run(new).step == "hear"
    assert Wait.objects.get(run=new, kind="capacity").state == "resolved"
    assert violations([old, new]) == []


def test_a_run_that_ends_before_it_is_superseded_calls_its_restart_off(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, said, world.fails = runs.a_run("begins_again"), [], -1
    monkeypatch.setattr(World, "enters", lambda *_: said.append(restart(old)))
    runs.drain()
    assert runs.state_of(old) == "succeeded"

    Clockwork().go_round()

    new = runs.the_run(said[0].id)
    assert (new.state, "ended as succeeded" in new.reason) == ("cancelled", True)
    assert violations([old, new.pk]) == []


def dies_in(world: World, monkeypatch: pytest.MonkeyPatch, old: UUID) -> restarting.Restarted:
    """Somebody restarts the run while its worker is at it; then the worker is gone."""
    said: list[restarting.Restarted] = []

    def enters(_: World, run: object) -> None:
        said.append(restart(old))
        if world.resource == "book":
            raise Died

    monkeypatch.setattr(World, "enters", enters)
    with runs.a_worker() as worker:
        with suppress(Died):
            worker.drain_placed(until=time.monotonic() + 60, stop=lambda: False)
        holder = runs.the_run(old).worker_id
        assert holder is not None
        takeover.take_over(holder, because="its process is gone")
    return said[0]


def test_watch_makes_the_move_for_a_worker_that_died(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R17"""
    old = runs.a_run("redone")

    new = dies_in(world, monkeypatch, old).id

    assert (runs.state_of(old), runs.state_of(new)) == ("superseded", "queued")
    assert violations([old, new]) == []


def test_a_call_under_way_when_the_worker_died_keeps_the_old_run(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R5"""
    old, world.resource = runs.a_run("begins_again", {"sells": True}), "pen"
    world.shop.answers = [Died()]

    new = dies_in(world, monkeypatch, old).id

    assert (runs.state_of(old), runs.state_of(new)) == ("paused", "cancelled")
    assert "nobody knows what became of mp_" in runs.the_run(old).reason
    assert not runs.the_run(old).cancel_requested
    assert violations([old, new]) == []


def test_a_run_begins_anew_by_itself_when_its_plan_says_so(world: World) -> None:
    """R5"""
    world.fails = 3
    old = runs.a_run("begins_again")

    runs.work_through(old)
    (new,) = restarts_of(old)
    runs.work_through(new.pk)

    assert (runs.state_of(old), runs.state_of(new.pk)) == ("superseded", "succeeded")
    assert runs.the_run(new.pk).automatic_restarts == 1
    assert violations([old, new.pk]) == []


def test_it_does_so_no_more_often_in_a_row_than_declared(world: World) -> None:
    world.fails = 99
    old = runs.a_run("begins_again")

    runs.work_through(old)
    (new,) = restarts_of(old)
    runs.work_through(new.pk)

    assert runs.asked_of(runs.open_wait(new.pk))["kind"] == "give up"
    assert restarts_of(new.pk) == []


def test_once_a_call_was_intended_a_person_is_asked_instead(world: World) -> None:
    """R5"""
    world.fails = 99
    old = runs.a_run("begins_again", {"sells": True})

    runs.work_through(old)

    assert runs.asked_of(runs.open_wait(old))["kind"] == "give up"
    assert restarts_of(old) == []


def test_where_a_person_is_asked_about_a_restart_it_does_not_begin_anew_by_itself_too(
    world: World,
) -> None:
    """R5: one run does the work, not two."""
    world.fails = 99
    old = runs.a_run("begins_again")
    pausing.pause(runs.the_operator(), old, because="tests")
    heir = runs.a_run("redone")
    Run.objects.filter(pk=heir).update(restart_of=old, state="waiting")
    resuming.resume(runs.the_operator(), old)

    runs.work_through(old)

    assert runs.asked_of(runs.open_wait(old))["kind"] == "give up"
    assert [run.pk for run in restarts_of(old)] == [heir]


def test_a_cancel_takes_back_that_another_run_takes_its_place(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I13: whoever cancels the work does not begin it again."""
    old, said = runs.a_run("redone"), []

    def asked_meanwhile(run: object) -> None:
        monkeypatch.setattr(World, "enters", lambda *_: None)
        said.append(restart(old))
        lifecycle.cancel(runs.the_operator(), old, because="no more of it")

    monkeypatch.setattr(World, "enters", lambda _, run: asked_meanwhile(run))
    runs.drain()
    Clockwork().go_round()

    new = said[0].id
    assert (runs.state_of(old), runs.state_of(new)) == ("cancelled", "cancelled")
    assert "ended as cancelled" in runs.the_run(new).reason
    assert violations([old, new]) == []


def test_a_run_that_is_being_cancelled_is_not_superseded_instead(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = runs.a_run("redone")

    def asked_meanwhile(run: object) -> None:
        monkeypatch.setattr(World, "enters", lambda *_: None)
        lifecycle.cancel(runs.the_operator(), old, because="no more of it")
        with pytest.raises(NotRestartable, match="being cancelled"):
            restart(old)

    monkeypatch.setattr(World, "enters", lambda _, run: asked_meanwhile(run))
    runs.drain()

    assert (runs.state_of(old), restarts_of(old)) == ("cancelled", [])


def test_a_restart_that_is_asked_about_does_not_begin_because_another_one_was_requested(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R5: the holder makes room for whoever waits for it alone, and for nobody else."""
    old, said = runs.a_run("redone_plan"), []

    class Hears(list[Any]):
        def append(self, heard: Any) -> None:
            super().append(heard)
            if len(self) == 2:
                said.append(restart(old))

    def asked_meanwhile(run: Any) -> None:
        if run.step == "purge":
            monkeypatch.setattr(World, "enters", lambda *_: None)
            lifecycle.cancel(runs.the_operator(), restart(old).id, because="rather not")

    monkeypatch.setattr(World, "enters", lambda _, run: asked_meanwhile(run))
    world.shop.heard = Hears()
    runs.drain()
    runs.approve(old)
    runs.drain()

    assert (said[0].asks, runs.state_of(said[0].id)) == (True, "waiting")
    assert (runs.state_of(old), str(said[0].id) in runs.the_run(old).reason) == ("paused", True)
    assert runs.asked_of(runs.open_wait(said[0].id))["kind"] == "restart"
    assert violations([old, said[0].id]) == []
