"""What a drill tells of a workflow: why each run went on, what its steps did unasked, what it asks."""

import pytest

from runs.management.drills.roles import Role
from runs.management.drills.stage import Stage
from runs.rules.drill_report import DrillReport
from tests.drills.stages import a_drill, report_of

pytestmark = [pytest.mark.processes, pytest.mark.timeout(200)]


def drilled(stage: Stage, workflow: str, *roles: Role, **asked: object) -> DrillReport:
    drill = a_drill(stage, workflow, **asked)
    drill.play(list(roles))
    return report_of(drill)


def test_each_going_on_after_a_kill_is_told_with_its_reason(stage: Stage) -> None:
    kills = ("finished:1@reserve", "finished:1@await_receipt", "finished:1@notify")
    role = Role(
        name="killed thrice", strikes=kills, manners={"first": ["timeout"]}, redelivers=True
    )

    report = drilled(stage, "ten_steps", role)

    assert report.violations == ()
    assert (report.kills, report.duplicates) == (3, 0)
    assert report.effects == report.keys == 5
    assert report.calls_avoided > 0
    assert report.cost_avoided > 0
    assert report.redeliveries > 3
    said = [resumed.sentence for resumed in report.resumes]
    assert sum("was killed at “finished” of step" in sentence for sentence in said) == 3
    assert all(sentence.endswith(".") for sentence in said)
    assert len(report.recovery.from_death) == 3
    print(f"\n3 kills: {report.recovery.from_death} s")  # noqa: T201


def test_what_a_step_does_undeclared_is_named_with_its_line(stage: Stage) -> None:
    report = drilled(stage, "drill_curious", Role(name="in peace"))

    seen = {(each.step, each.what): each for each in report.undeclared}
    assert {what for step, what in seen if step == "pry"} == {
        "opened a socket",
        "started a process",
        "wrote a file",
        "deleted a file",
    }
    assert {each.file for each in seen.values()} == {"tests/drills/programs.py"}
    assert all(each.line > 0 for each in seen.values())
    assert not [step for step, _ in seen if step == "keep"], (
        "an artifact is no file of a step's own"
    )


def test_a_question_that_only_an_author_can_answer_is_left_open_and_is_no_violation(
    stage: Stage,
) -> None:
    drill = a_drill(stage, "drill_fickle")
    role = Role(
        name="changes its mind",
        strikes=("result_committed:1@change",),
        step="change",
        fault="result_committed",
    )
    drill.play([role])

    report = report_of(drill)

    assert report.violations == ()
    assert report.asked == 1
    (cell,) = report.matrix
    assert cell.state == "asked"
    assert "different" in cell.sentence or "another" in cell.sentence or "asks" in cell.sentence


def test_a_receiver_that_does_twice_what_it_promised_once_is_a_violation(stage: Stage) -> None:
    drill = a_drill(stage, "drill_program", data={"program": BROKEN_PROMISE})
    role = Role(name="sent twice", strikes=("sent:1@first",))
    drill.hand.believes = "did_not"
    drill.play([role])

    report = report_of(drill)

    # Where it was slow as well it was sent once more.
    assert report.duplicates >= 1
    assert [violation.invariant for violation in report.violations] == ["I5"]


BROKEN_PROMISE = '[[{"do": "call", "effect": "neither", "amount": 1}], [], []]'
