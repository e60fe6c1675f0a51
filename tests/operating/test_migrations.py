"""An author's migration takes begun runs along; what does not fit is a person's to decide."""

from dataclasses import replace
from typing import Any

import pytest

from runs.definition import Cursor, DeclarationError, Migrated, Position
from runs.models import AuditEvent, Checkpoint
from runs.queries.verify import violations
from tests.operating import releases
from tests.operating.releases import (
    ENTERED,
    SENT,
    S,
    asked,
    begun,
    go_on,
    post,
    posting,
    release,
    writing,
)
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_desk")]

FIRST, SECOND, THIRD = writing("weigh", "weight"), writing("pack", "box"), posting("post")
V1 = (1, [FIRST, SECOND, THIRD])


@pytest.fixture(autouse=True)
def _empty() -> None:
    ENTERED.clear()
    SENT.clear()


def test_a_migration_renames_facts_and_chooses_where_to_go_on() -> None:
    def to_v2(facts: dict[str, Any], at: Position) -> Migrated:
        return Migrated(facts={"n": facts["n"], "grams": facts["weight"] * 1000}, at=at)

    def to_v3(facts: dict[str, Any], at: Position) -> Migrated:
        return Migrated(facts={**facts, "checked": True}, at=Position(step="pack"))

    with release(V1):
        run_id = begun(until="pack")
    third = [writing("weigh", "grams"), writing("check", "checked"), SECOND, THIRD]
    with release((3, third), migrations={1: to_v2, 2: to_v3}):
        go_on()

    run = runs.the_run(run_id)
    assert (run.version, run.state, run.steps_total) == (3, "succeeded", 4)
    assert ENTERED == ["weigh", "pack", "post"]
    assert runs.facts_of(run_id) == {"grams": 1000, "checked": True, "box": 1}
    assert AuditEvent.objects.filter(run=run, kind="run.version_changed").count() == 1
    assert Checkpoint.objects.filter(run=run, version=3).count() >= 3
    assert violations([run_id]) == []


def wrong(_facts: dict[str, Any], _at: Position) -> Migrated:
    raise RuntimeError("no such scale")


def undeclared(facts: dict[str, Any], at: Position) -> Migrated:
    return Migrated(facts={**facts, "colour": "red"}, at=at)


def incomplete(facts: dict[str, Any], at: Position) -> Migrated:
    return Migrated(facts={"n": facts["n"]}, at=at)


def nowhere(facts: dict[str, Any], _at: Position) -> Migrated:
    return Migrated(facts=facts, at=Position(step="ship"))


def nothing(_facts: dict[str, Any], _at: Position) -> Any:
    return None


@pytest.mark.parametrize(
    ("migration", "said"),
    [
        (wrong, "RuntimeError: no such scale"),
        (undeclared, "gives the fact 'colour', which no step of version 2"),
        (incomplete, "gives no 'weight'"),
        (nowhere, "goes on at 'ship', which version 2 does not have"),
        (nothing, "AttributeError"),
    ],
)
def test_a_migration_that_fails_or_does_not_fit_becomes_a_decision(
    migration: Any, said: str
) -> None:
    with release(V1):
        run_id = begun(until="pack")

    with release((2, [FIRST, SECOND, THIRD]), migrations={1: migration}):
        go_on()

    question = asked(run_id)
    assert question is not None
    assert said in question["question"]
    assert runs.the_run(run_id).version == 1
    assert violations([run_id]) == []


def test_a_migration_that_drops_a_scope_with_calls_asks_first() -> None:
    """R4: nobody names those calls again, so a person says that they may stand."""

    def to_v2(facts: dict[str, Any], at: Position) -> Migrated:
        return Migrated(facts=facts, at=at)

    with release((1, [FIRST, posting("post"), SECOND])):
        run_id = begun(until="pack")
    with release((2, [FIRST, SECOND]), migrations={1: to_v2}):
        go_on()
        question = asked(run_id)
        assert question is not None
        assert question["evidence"]["reason"] == "drops calls"
        runs.answer(run_id, "migrate")
        go_on()

    assert (runs.the_run(run_id).version, runs.state_of(run_id)) == (2, "succeeded")
    assert len(SENT) == 1
    assert violations([run_id]) == []


def test_a_call_of_which_nobody_knows_is_not_left_behind() -> None:
    """I6: only the step that named it can settle it."""

    def lost(request: Any, *, key: str, timeout: float) -> Any:
        raise ConnectionError("gone")

    def to_v2(facts: dict[str, Any], _at: Position) -> Migrated:
        return Migrated(facts=facts, at=Position(step="pack"))

    unsure = replace(post, send=lost, contract=None)
    with release((1, [posting("post", unsure), SECOND])):
        run_id = runs.a_run(releases.NAME)
        go_on()
        runs.answer(run_id, "did_not")

    with release((2, [SECOND]), migrations={1: to_v2}):
        go_on()

    question = asked(run_id)
    assert question is not None
    assert "Nobody knows what became of the call mp_" in question["question"]
    assert "redo" not in [each["key"] for each in question["options"]]
    assert violations([run_id]) == []


def test_a_page_that_was_turned_is_kept_by_a_migration_of_its_step() -> None:
    def does(run: Any) -> None:
        for page in run.pages(list(range(4)), size=2):
            with run.checkpoint(cursor=page.end):
                ENTERED.append(f"page {page.end.ordinal}")
            if len(ENTERED) == 2:
                raise run_failed
        run.write("sum", 6)

    run_failed = RuntimeError("once")
    paged = {"reads": ["n"], "writes": ["sum"]}

    def to_v2(facts: dict[str, Any], at: Position) -> Migrated:
        assert at.cursor == Cursor(ordinal=2, token=at.cursor.token)
        return Migrated(facts=facts, at=Position(step="add_up", cursor=at.cursor))

    with release((1, [S(name="add", does=does, declares=paged)])):
        run_id = runs.a_run(releases.NAME)
        go_on()
        assert runs.open_wait(run_id).kind == "retry"
    renamed = S(name="add_up", does=does, declares={**paged, "was": "add", "timeout": None})
    with release((2, [renamed]), migrations={1: to_v2}):
        runs.let_it_be_due(run_id)
        go_on()

    assert ENTERED == ["add", "page 2", "add_up", "page 4"]
    assert runs.state_of(run_id) == "succeeded"
    assert violations([run_id]) == []


@pytest.mark.parametrize(
    "declared", [{2: nothing}, {0: nothing}, {True: nothing}, {1: "to_v2"}, [nothing]]
)
def test_migrations_that_lead_from_no_earlier_version_are_refused_where_they_are_declared(
    declared: Any,
) -> None:
    with (
        pytest.raises(DeclarationError, match="version 2") as refused,
        release((2, [FIRST]), migrations=declared),
    ):
        pass

    assert "migrations = {1: to_v2}" in refused.value.hint
