"""A report keeps what it says, gives one verdict, and is a table, JSON and JUnit."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from runs.rules.drill_matrix import grid_of, junit
from runs.rules.drill_report import (
    CellState,
    DrillReport,
    DrillState,
    Observed,
    Recovery,
    Resumed,
    Struck,
)
from runs.rules.violations import Violation

pytestmark = pytest.mark.one_database

# The names that `drill --json` has to print.
AGREED = (
    "kills redeliveries resumes effects keys duplicates calls_avoided cost_avoided "
    "recovery_seconds violations"
)
VIOLATION = Violation(invariant="I5", run="r2", text="It happened twice under one key.")


def a_report(**more: object) -> DrillReport:
    known = DrillReport(
        workflow="refunds",
        version=2,
        plan_hash="ab" * 32,
        release="",
        database="sqlite",
        command="drill refunds --matrix",
        seed=None,
        started_at="2026-11-30T10:00:00+00:00",
        ended_at="2026-11-30T10:01:00+00:00",
        steps=("charge", "book"),
        runs=3,
        kills=3,
        effects=4,
        keys=4,
        resumes=(Resumed(run="r1", step="book", fence=2, sentence="Run r1 went on at book: …"),),
        recovery=Recovery(from_death=(0.2, 0.9, 0.4), from_restart=(0.1,)),
        matrix=(
            Struck(step="book", fault="committed", state=CellState.SURVIVED, run="r1"),
            Struck(step="charge", fault="claimed", state=CellState.SURVIVED, run="r2"),
            Struck(step="charge", fault="sent", state=CellState.ASKED, run="r3"),
            Struck(step="people", fault="started", state=CellState.UNREACHED, run="r4"),
        ),
        observed=(
            Observed(step="book", what="opened a socket", detail="x", file="shop.py", line=7),
        ),
    )
    return replace(known, **more)  # type: ignore[arg-type]


def test_a_report_says_the_same_after_it_was_stored() -> None:
    report = a_report(violations=(VIOLATION,))

    assert DrillReport.from_text(report.to_text()) == report


def test_the_verdict_is_passed_failed_or_aborted_and_an_aborted_drill_has_not_failed() -> None:
    assert a_report().state is DrillState.PASSED
    assert a_report(violations=(VIOLATION,)).state is DrillState.FAILED
    assert a_report(aborted_because="no cluster came up").state is DrillState.ABORTED


def test_the_sentence_counts_boundaries_effects_and_recovery() -> None:
    assert a_report().sentence == (
        "2 of 3 boundaries survived; 1 needs a decision (expected). 4 effects under 4 keys, "
        "0 duplicates, recovery 400 ms. Every invariant held."
    )
    assert "1 violation: It happened twice" in a_report(violations=(VIOLATION,)).sentence


def test_the_json_has_the_agreed_names() -> None:
    printed = a_report(violations=(VIOLATION,)).as_json()

    assert not [name for name in AGREED.split() if name not in printed]
    assert printed["recovery_seconds"] == {"median": 0.4, "max": 0.9}
    assert printed["violations"] == [
        {"invariant": "I5", "run": "r2", "text": "It happened twice under one key."}
    ]


def test_what_steps_did_undeclared_is_told_apart() -> None:
    declared = Observed(
        step="pay", what="opened a socket", detail="x", file="a.py", line=1, declares_effects=True
    )
    report = a_report(observed=(*a_report().observed, declared))

    assert [seen.sentence for seen in report.undeclared] == [
        "book opened a socket (x) at shop.py:7"
    ]


def test_the_matrix_has_steps_across_in_their_order_and_faults_down_as_they_come() -> None:
    grid = grid_of(a_report())

    assert [(column.short, column.name) for column in grid.columns] == [
        ("1", "charge"),
        ("2", "book"),
        ("P", "people"),
    ]
    assert [row.fault for row in grid.rows] == ["claimed", "sent", "committed", "started"]
    assert [one.cell.run if one else None for one in grid.rows[0].cells] == ["r2", None, None]


def test_junit_has_a_case_for_each_cell_and_each_violation_elsewhere() -> None:
    suite = ET.fromstring(junit(a_report(violations=(replace(VIOLATION, run=""),))))  # noqa: S314

    assert suite.attrib["tests"] == "5"
    assert suite.attrib["failures"] == "1"
    assert suite.attrib["skipped"] == "1"
    assert len(suite.findall("testcase/failure")) == 1


def test_an_aborted_drill_is_an_error_in_junit_and_no_failure() -> None:
    report = a_report(matrix=(), aborted_because='the "cluster" ended')
    suite = ET.fromstring(junit(report))  # noqa: S314

    assert (suite.attrib["errors"], suite.attrib["failures"]) == ("1", "0")
    assert len(suite.findall("testcase/error")) == 1
