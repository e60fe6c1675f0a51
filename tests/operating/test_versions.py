"""Runs outlive a change of their workflow: they go on, are migrated, or a person says how."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from runs.engine.versions import code_here, verdict_of
from runs.ledger import versions
from runs.models import AuditEvent, PlannedCall, Step
from runs.queries.shown import run_shown
from runs.queries.verify import violations
from runs.queries.version_notes import version_lines
from runs.queries.versions import past_of
from runs.queries.why import why_of
from runs.rules.courses import course_of
from runs.rules.planned import list_digest
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
    """R4: the scope that keys are made from outlives the name."""
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
        rows = PlannedCall.objects.filter(run_id=run_id, generation=again["generation"])
        digest = list_digest(row.digest for row in rows.order_by("ordinal"))
        runs.answer(run_id, "approve", digest=digest, struck=[])
        go_on()

    assert (len(SENT), runs.state_of(run_id)) == (2, "succeeded")
    assert violations([run_id]) == []


def test_a_changed_effect_voids_the_approval_of_a_single_call() -> None:
    """R4, for a call that no list covers."""
    final = replace(post, reversible=None)
    with release((1, [posting("post", final)])):
        run_id = runs.a_run(releases.NAME)
        go_on()
        before = runs.asked_of(runs.open_wait(run_id))["call"]["digest"]
        runs.answer(run_id, "approve")

    with release((2, [posting("post", replace(final, timeout=timedelta(seconds=5)))])):
        assert verdict_of(runs.the_run(run_id), code_here()).reason == "approval void"
        go_on()
        again = runs.asked_of(runs.open_wait(run_id))["call"]["digest"]
        assert (again != before, SENT) == (True, [])
        runs.answer(run_id, "approve")
        go_on()

    assert (len(SENT), runs.state_of(run_id)) == (1, "succeeded")
    assert violations([run_id]) == []


def test_a_second_look_at_the_same_run_changes_nothing() -> None:
    with release(V1):
        run_id = begun(until="pack")
    with release((2, [FIRST, writing("wrap", "paper"), THIRD])):
        past = past_of(runs.the_run(run_id))
        carry = course_of(past, code_here()).carry
        assert carry is not None

        assert versions.carry_over(past, carry, because="first")
        assert not versions.carry_over(past, carry, because="second")

    assert AuditEvent.objects.filter(run_id=run_id, kind="run.version_changed").count() == 1


def test_a_checkpoint_of_a_newer_schema_is_not_executed_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with release(V1):
        run_id = begun(until="pack")
        monkeypatch.setattr("runs.engine.session.CHECKPOINT_SCHEMA", 0)

        go_on()

    run = runs.the_run(run_id)
    assert run.state == "failed"
    assert "written by a newer release (schema 1); this one reads schema 0" in run.reason
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
