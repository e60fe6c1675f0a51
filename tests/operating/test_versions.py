"""Runs outlive a change of their workflow: they go on, are migrated, or a person says how."""

from typing import Any

import pytest

from runs.definition import Cursor, Migrated, Position
from runs.models import AuditEvent, Checkpoint, Step
from runs.queries.shown import run_shown
from runs.queries.verify import violations
from runs.queries.version_notes import version_lines
from runs.queries.why import why_of
from tests.operating import releases
from tests.operating.releases import (
    ENTERED,
    SENT,
    S,
    applying,
    asked,
    begun,
    changed_post,
    go_on,
    planning,
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


def test_a_run_goes_on_with_its_own_version_while_that_is_registered_beside_the_newer() -> None:
    with release(V1):
        run_id = begun(until="pack")

    with release(V1, (2, [FIRST, writing("pack", "crate"), THIRD])):
        go_on()

    assert (runs.the_run(run_id).version, runs.state_of(run_id)) == (1, "succeeded")
    assert violations([run_id]) == []


def test_two_workers_with_different_code_each_take_only_what_they_can_execute() -> None:
    with release(V1):
        first = begun(until="pack")
        with runs.a_worker() as old:
            with release((2, [FIRST, THIRD])):
                second = runs.a_run(releases.NAME)
                with runs.a_worker() as new:
                    new.caretaker.look()
                    new.drain_placed(until=float("inf"), stop=lambda: False)
                    assert runs.state_of(second) == "succeeded"
                    assert runs.state_of(first) == "queued"
            old.drain_placed(until=float("inf"), stop=lambda: False)

    assert (runs.the_run(first).version, runs.state_of(first)) == (1, "succeeded")


def test_a_run_whose_finished_steps_are_unchanged_goes_on_under_the_new_plan() -> None:
    with release(V1):
        run_id = begun(until="pack")

    with release((2, [FIRST, SECOND, writing("label", "label"), THIRD])):
        go_on()

    run = runs.the_run(run_id)
    assert (run.version, run.state, run.generation) == (2, "succeeded", 1)
    assert ENTERED == ["weigh", "pack", "label", "post"]
    assert AuditEvent.objects.filter(run=run, kind="run.version_changed").count() == 1
    assert violations([run_id]) == []


def test_a_step_that_the_new_plan_has_instead_begins_in_a_generation_of_its_own() -> None:
    with release(V1):
        run_id = begun(until="pack")

    with release((2, [FIRST, writing("wrap", "paper"), THIRD])):
        go_on()

    assert (runs.the_run(run_id).generation, runs.state_of(run_id)) == (2, "succeeded")
    assert ENTERED == ["weigh", "wrap", "post"]
    assert violations([run_id]) == []


def test_a_rename_that_says_what_it_was_keeps_result_and_key() -> None:
    with release(V1):
        run_id = begun(until="post")

    with release((2, [FIRST, writing("box_up", "box", was="pack"), posting("send", was="post")])):
        go_on()

    steps = Step.objects.filter(run_id=run_id, superseded=False).order_by("ordinal")
    assert [(step.key, step.scope) for step in steps] == [
        ("weigh", "weigh"), ("box_up", "pack"), ("send", "post"),
    ]  # fmt: skip
    assert ENTERED == ["weigh", "pack", "send"]
    assert violations([run_id]) == []


def test_a_changed_finished_step_asks_and_the_person_may_redo_from_the_safe_checkpoint() -> None:
    with release(V1):
        run_id = begun(until="post")

    with release((2, [FIRST, writing("pack", "crate"), THIRD])):
        go_on()
        question = asked(run_id)
        assert question is not None
        assert [each["key"] for each in question["options"]] == ["wait", "redo", "stop", "cancel"]
        assert violations([run_id]) == []
        runs.answer(run_id, "redo")
        go_on()

    assert (runs.the_run(run_id).version, runs.state_of(run_id)) == (2, "succeeded")
    assert ENTERED == ["weigh", "pack", "pack", "post"]
    assert runs.facts_of(run_id) == {"weight": 1, "crate": 1}
    assert violations([run_id]) == []


def test_who_chooses_to_wait_is_not_asked_again_and_goes_on_with_the_old_code() -> None:
    with release(V1):
        run_id = begun(until="post")

    with release((2, [FIRST, writing("pack", "crate"), THIRD])):
        go_on()
        runs.answer(run_id, "wait")
        go_on()
        assert runs.state_of(run_id) == "queued"
        assert asked(run_id) is None
        with runs.a_worker():
            said = why_of(runs.the_run(run_id)).sentence
            assert "no live worker knows version 1" in said
    with release(V1):
        go_on()

    assert (runs.the_run(run_id).version, runs.state_of(run_id)) == (1, "succeeded")
    assert violations([run_id]) == []


def test_a_question_about_a_version_is_withdrawn_when_its_code_is_back() -> None:
    with release(V1):
        run_id = begun(until="post")
    with release((2, [FIRST, writing("pack", "crate"), THIRD])):
        go_on()
        assert asked(run_id)

    with release(V1):
        go_on()

    assert (runs.the_run(run_id).version, runs.state_of(run_id)) == (1, "succeeded")
    assert violations([run_id]) == []


def test_an_older_release_asks_about_runs_of_a_newer_one() -> None:
    with release((2, [FIRST, SECOND, THIRD])):
        run_id = begun(until="pack")

    with release(V1):
        go_on()

    question = asked(run_id)
    assert question is not None
    assert question["evidence"]["reason"] == "older release"


def test_the_same_version_with_another_plan_takes_no_run_and_says_so() -> None:
    with release(V1):
        run_id = begun(until="pack")

    with release((1, [FIRST, writing("pack", "crate"), THIRD])), runs.a_worker() as worker:
        worker.caretaker.look()
        worker.drain_placed(until=float("inf"), stop=lambda: False)
        said = why_of(runs.the_run(run_id)).sentence

    assert (runs.state_of(run_id), asked(run_id)) == ("queued", None)
    assert "version 1 has another plan in the code that runs now" in said
    assert "give the changed plan version 2" in said


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


def test_a_changed_effect_voids_an_approval_that_is_not_applied_yet() -> None:
    """R4: the digest that was approved includes what the effect promised then."""
    with release((1, [planning("propose"), applying("purge")])):
        run_id = runs.a_run(releases.NAME)
        go_on()
        before = runs.asked_of(runs.open_wait(run_id))["plan"]["digest"]
        runs.approve(run_id)

    with release((2, [planning("propose", changed_post), applying("purge", changed_post)])):
        go_on()
        again = runs.asked_of(runs.open_wait(run_id))["plan"]
        assert again["digest"] != before
        assert SENT == []
        assert violations([run_id]) == []
        rows = runs.PlannedCall.objects.filter(run_id=run_id, generation=again["generation"])
        digest = runs.list_digest(row.digest for row in rows.order_by("ordinal"))
        runs.answer(run_id, "approve", digest=digest, struck=[])
        go_on()

    assert (len(SENT), runs.state_of(run_id)) == (2, "succeeded")
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


def test_a_second_look_at_the_same_run_changes_nothing() -> None:
    from runs.engine.versions import code_here
    from runs.ledger import versions
    from runs.queries.versions import past_of
    from runs.rules.courses import course_of

    with release(V1):
        run_id = begun(until="pack")
    with release((2, [FIRST, writing("wrap", "paper"), THIRD])):
        past = past_of(runs.the_run(run_id))
        carry = course_of(past, code_here()).carry
        assert carry is not None

        assert versions.carry_over(past, carry, because="first")
        assert not versions.carry_over(past, carry, because="second")

    assert AuditEvent.objects.filter(run_id=run_id, kind="run.version_changed").count() == 1


def test_a_checkpoint_of_a_newer_schema_is_not_executed_and_says_so() -> None:
    with release(V1):
        with pytest.MonkeyPatch.context() as newer:
            for module in ("sqlite", "postgresql"):
                newer.setattr(f"runs.ledger.{module}.CHECKPOINT_SCHEMA", 99)
            run_id = begun(until="pack")

        go_on()

        run = runs.the_run(run_id)
        assert run.state == "failed"
        assert "written by a newer release (schema 99); this one reads schema 1" in run.reason
        assert ENTERED == ["weigh"]
        assert violations([run_id]) == []


def test_code_that_changed_under_the_same_version_is_a_warning_on_its_runs() -> None:
    def lighter(run: Any) -> None:
        run.write("box", 2)

    changed = S(name="pack", does=lighter, declares={"reads": ["n"], "writes": ["box"]})
    with release(V1):
        run_id = begun(until="pack")
        assert run_shown(runs.the_run(run_id))["warnings"] == []

    with release((1, [FIRST, changed, THIRD])), pytest.MonkeyPatch.context() as source:
        source.setattr("runs.rules.fingerprints.inspect.getsource", lambda body: "another text")
        found = run_shown(runs.the_run(run_id))["warnings"]
        [line] = version_lines(
            runs.the_operator(),
            releases.NAME,
            versions=[1],
            stored={1: runs.the_run(run_id).plan_id},
        )

    assert found == [
        "The code of weigh, pack, post has changed since this run began, under the same version."
    ]
    assert (line.here, line.other_plan, line.open_runs) == (True, False, 1)
    assert line.changed == ("weigh", "pack", "post")
