"""Every crash point of every step: nothing is lost, nothing happens twice, every invariant holds."""

from pathlib import Path

import pytest

from runs.management.drills import conduct, roles
from runs.management.drills.stage import Stage
from runs.rules.drill_report import CellState, DrillReport
from tests.drills.stages import a_drill, report_of
from tests.inbox.builders import a_tsv

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]

# What a run comes to at least, whichever database it is on.
ALWAYS = {
    "claimed",
    "before_body",
    "intent_committed",
    "sent",
    "before_result",
    "result_committed",
    "after_body",
    "plan_sealed",
    "before_commit",
    "committed",
    "finished",
    "parked",
    "released",
    "resend_committed",
    "refusal_committed",
    "unsent_committed",
    "doubt_committed",
}


def a_matrix(stage: Stage, workflow: str, *, every: bool, **data: str) -> DrillReport:
    drill = a_drill(stage, workflow, matrix=True, every=every, data=data)
    conduct.play_matrix(drill)
    return report_of(drill)


def holds(report: DrillReport) -> bool:
    assert report.violations == ()
    assert report.duplicates == 0
    assert report.effects == report.keys
    states = {cell.state for cell in report.matrix}
    assert states == {CellState.SURVIVED}, [c for c in report.matrix if c.state != "survived"]
    return True


def test_ten_steps_survive_every_crash_point(stage: Stage) -> None:
    report = a_matrix(stage, "ten_steps", every=False)

    struck = {cell.fault for cell in report.matrix}
    assert not ALWAYS - struck
    assert set(roles.HANDS_POINTS) <= struck
    assert {"taken_over", "loss_declared", "death_proven", "timer_fired"} <= struck
    assert holds(report)


@pytest.mark.long
def test_an_inbox_is_sorted_through_every_crash_point(stage: Stage, tmp_path: Path) -> None:
    inbox = str(a_tsv(tmp_path / "inbox.tsv"))
    drill = a_drill(stage, "inbox_triage", matrix=True, data={"inbox": inbox})
    conduct.play_matrix(drill, besides=False)

    report = report_of(drill)

    assert not ALWAYS - {cell.fault for cell in report.matrix}
    assert holds(report)


@pytest.mark.long
def test_ten_steps_survive_every_crash_point_of_every_step(stage: Stage) -> None:
    report = a_matrix(stage, "ten_steps", every=True)

    assert len(report.matrix) > 80
    assert holds(report)


@pytest.mark.long
def test_an_inbox_is_sorted_through_every_crash_point_of_every_step(
    stage: Stage, tmp_path: Path
) -> None:
    report = a_matrix(stage, "inbox_triage", every=True, inbox=str(a_tsv(tmp_path / "inbox.tsv")))

    assert len(report.matrix) > 60
    assert holds(report)
