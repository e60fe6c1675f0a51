"""Every commit of the ledger has a crash point, named once and explained; unarmed it is nothing."""

import re

import pytest

from config.environment import ROOT
from runs.engine import faults
from runs.engine.faults import Died, dying_at
from runs.ledger import commits, ticks
from runs.models import Tick
from runs.rules.crash_points import POINTS, SAYS
from tests.drills.commits_in_source import called_from_above, functions

# Writes that are no step of anybody's work, with the reason.
NO_COMMIT_OF_WORK = {
    "guards.install": "made again by each migration",
    "guards.remove": "made again by each migration",
    "postgresql.install": "made again by each migration",
    "tenants.keep_default": "made by each migration",
    "workers.name_session": "says whose session it is; writes no row",
    "workers.end_sessions": "ends sessions; writes no row",
    "drills.mark_scratch": "made on an empty database before anything runs there",
    "drills.hasten": "lets time pass in a rehearsal",
}


@pytest.mark.one_database
def test_every_commit_that_is_made_from_above_the_ledger_names_a_crash_point() -> None:
    found, used = functions(), called_from_above()

    nameless = sorted(
        name
        for name in used & set(found)
        if found[name].writes and not found[name].points and name not in NO_COMMIT_OF_WORK
    )

    assert not nameless, "name its crash point with @commits(...): " + ", ".join(nameless)


@pytest.mark.one_database
def test_what_is_excused_is_still_there() -> None:
    assert not set(NO_COMMIT_OF_WORK) - set(functions())


@pytest.mark.one_database
def test_every_point_is_reached_somewhere_and_by_one_kind_of_commit() -> None:
    named = [point for function in functions().values() for point in function.points]
    source = "\n".join(
        path.read_text("utf-8")
        for package in ("runs", "approvals", "monitors")
        for path in (ROOT / package).rglob("*.py")
    )
    reached = set(re.findall(r"(?:reach|reached|commits)\(\s*\"([a-z_]+)\"", source))

    assert not set(named) - set(POINTS)
    assert reached == set(POINTS)


@pytest.mark.one_database
def test_every_point_says_in_words_where_it_is() -> None:
    assert set(SAYS) == set(POINTS)
    assert len(set(SAYS.values())) == len(SAYS)


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("text", "meets", "not_"),
    [
        ("committed", ("committed", "pay"), ("parked", "pay")),
        ("committed:3@pay", ("committed", "pay"), ("committed", "book")),
        ("sent@pay!stop", ("sent", "pay"), ("sent", "")),
    ],
)
def test_what_is_armed_is_a_point_a_count_a_step_and_a_way(
    text: str, meets: tuple[str, str], not_: tuple[str, str]
) -> None:
    spec = faults.spec_of(text)

    assert spec is not None
    assert spec.meets(*meets)  # type: ignore[arg-type]
    assert not spec.meets(*not_)  # type: ignore[arg-type]
    assert faults.spec_of(spec.text()) == spec


@pytest.mark.one_database
@pytest.mark.parametrize("text", ["", "nowhere", "sent:", "sent!maim", "sent:1@pay!kill !stop"])
def test_what_is_no_point_arms_nothing(text: str) -> None:
    assert faults.spec_of(text) is None


@pytest.mark.django_db
def test_unarmed_a_commit_tells_nobody() -> None:
    assert commits._listener is None

    ticks.note("clockwork", holder="tests")

    assert Tick.objects.filter(duty="clockwork").exists()


@pytest.mark.django_db(transaction=True)
def test_a_test_may_die_behind_a_commit_which_is_then_kept() -> None:
    with pytest.raises(Died), dying_at("tick_committed"):
        ticks.note("clockwork", holder="tests")

    assert Tick.objects.filter(duty="clockwork").exists()
    assert commits._listener is None
