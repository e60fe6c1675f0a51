"""`verify` finds nothing wrong with what the engine wrote, and names every damage done to it."""

import re
from collections.abc import Iterator
from uuid import UUID

import pytest
from pytest_django import DjangoDbBlocker

from runs.models import AuditEvent, Run
from runs.queries import verify
from runs.queries.verify_selections import selections_hold
from runs.queries.verify_subject import Subject
from runs.rules.violations import Violation
from tests.durability import (
    damages_to_calls,
    damages_to_records,
    damages_to_selections,
    damages_to_standing,
)
from tests.durability.worlds import Damage, World, a_world, damaged

pytestmark = pytest.mark.django_db

EVERY_DAMAGE = [
    *damages_to_records.DAMAGES,
    *damages_to_calls.DAMAGES,
    *damages_to_standing.DAMAGES,
    damages_to_selections.UNFINISHED,
]


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    with django_db_blocker.unblock(), a_world() as built:
        yield built


@pytest.fixture(autouse=True)
def _without_other_apps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "_of_other_apps", [])


def said(found: list[Violation]) -> list[str]:
    return [f"{one.invariant} {one.text}" for one in found]


def test_what_the_engine_wrote_is_in_order(world: World) -> None:
    """R36, R39: each chain's head is on its run's row; a checkpoint counts and digests its keys."""
    assert said(verify.violations(files=True)) == []


@pytest.mark.parametrize("damage", EVERY_DAMAGE, ids=lambda damage: damage.sentence)
def test_it_is_named_when(damage: Damage, world: World) -> None:
    with damaged(damage, world):
        found = verify.violations(files=True)

    named = [one for one in found if one.invariant == damage.invariant]
    assert any(re.search(damage.says, one.text) for one in named), "\n".join(said(found))


@pytest.mark.parametrize(
    "damage", damages_to_selections.DAMAGES, ids=lambda damage: damage.sentence
)
def test_it_is_named_of_a_selection_when(damage: Damage, world: World) -> None:
    with damaged(damage, world):
        found = said(list(selections_hold()))

    assert any(re.search(damage.says, one) for one in found), "\n".join(found)


def test_every_damage_is_told_of_the_run_it_was_done_to(world: World) -> None:
    damage = damages_to_records.STEPS[1]

    with damaged(damage, world):
        found = verify.violations()

    runs = {one.run for one in found if one.invariant != "R20"}
    assert runs == {str(world.whole)}


def test_an_erased_body_leaves_the_chain_whole(world: World) -> None:
    erased = Damage(
        sentence="",
        do=lambda w: AuditEvent.objects.filter(run=w.whole).update(body="", salt=""),
        invariant="",
        says="",
    )

    with damaged(erased, world):
        found = verify.violations([world.whole])

    assert {one.invariant for one in found} == {"R20"}


def test_only_the_runs_asked_about_are_checked(world: World) -> None:
    with damaged(damages_to_records.STEPS[1], world):
        found = verify.violations([world.asking])

    assert {one.invariant for one in found} == {"R20"}


def test_another_app_checks_its_own_rows(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def of_the_desk(run_id: UUID) -> list[Violation]:
        return [Violation(invariant="I13", run=str(run_id), text="Two winners.")]

    verify.register(of_the_desk)
    verify.register(of_the_desk)

    assert said(verify.violations([world.asking])) == ["I13 Two winners."]


def test_rows_that_cannot_be_read_are_named(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    unreadable = Damage(
        sentence="",
        do=lambda w: AuditEvent.objects.filter(run=w.whole, kind="call.intended").update(
            body="no JSON"
        ),
        invariant="",
        says="",
    )

    with damaged(unreadable, world):
        found = verify.violations([world.whole])

    assert any("calls_hold could not read it" in one.text for one in found)


def test_a_run_that_moves_meanwhile_is_looked_at_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []

    def sees_two_different_runs(subject: Subject) -> Iterator[Violation]:
        looks.append(subject)
        if len(looks) == 1:
            Run.objects.filter(pk=subject.run.pk).update(seq=subject.run.seq)
            yield subject.violates("I1", "Half of this was read before, half after.")

    monkeypatch.setattr(verify, "OF_A_RUN", (sees_two_different_runs,))
    monkeypatch.setattr(verify, "unmoved", lambda subject: len(looks) > 1)

    assert verify.violations([world.queued]) == []
    assert len(looks) == 2
