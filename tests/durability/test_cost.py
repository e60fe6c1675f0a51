"""What a step costs, and that both databases hold the same rows and the same chain after the same run."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from runs.definition import registry
from runs.engine import versions
from runs.management.benchmarks import steps as bench
from runs.management.benchmarks.counting import Counted, counting
from runs.models import (
    Artifact,
    Assignment,
    AuditEvent,
    Call,
    Checkpoint,
    Judgement,
    LogLine,
    PlannedCall,
    Run,
    Step,
    Wait,
)
from runs.queries.verify import violations
from runs.rules.chain import fault_of
from tests.durability import whole_runs
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_desk")]

GOLDEN = Path(__file__).with_name("whole_run.json")
TABLES = (
    Run, Step, Checkpoint, Call, PlannedCall, Judgement, Artifact, LogLine, Wait, Assignment,
    AuditEvent,
)  # fmt: skip
# What is another one each time: names of rows, moments, salts and what is made of them.
OWN = ("id", "pid", "memory_kb", "salt", "prev", "hash", "head", "plan_hash", "payload_digest")
ANOTHERS = [
    (re.compile(r"mp_[a-z0-9]+"), "KEY"),
    (re.compile(r"[0-9a-f]{64}"), "DIGEST"),
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)?"), "MOMENT"),
    (re.compile(r'"assignment":\d+'), '"assignment":0'),
    (re.compile(r"decision:\d+"), "decision:0"),
    (re.compile(r"at the receiver [a-z0-9]{6}"), "at the receiver"),
    (re.compile(r"[0-9a-f]{16}"), "SHORT"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "REFERENCE"),
    (re.compile(r"\(\S+\.py:\d+\)"), "(there)"),
]
# Start, claim and ten steps, the last of which looks for more to do; and the builder's own look.
STATEMENTS_AT_MOST = {"sqlite": 89, "postgresql": 13}


@pytest.fixture
def ten_empty_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    # A look after stranded runs belongs to the second that is over, not to the run.
    monkeypatch.setattr(versions, "LOOK_EVERY", float("inf"))
    with registry.isolated():
        yield bench.ten_empty_steps().name


def cost_of_a_run(workflow: str) -> Counted:
    with runs.a_worker() as worker, counting() as counted:
        run_id = runs.a_run(workflow, {"n": 1})
        assert worker.drain_placed(until=float("inf"), stop=lambda: False)
    assert runs.state_of(run_id) == "succeeded"
    return counted


def test_a_run_of_ten_steps_is_twelve_commits_with_its_start_and_its_claim(
    ten_empty_steps: str,
) -> None:
    cost_of_a_run(ten_empty_steps)

    counted = cost_of_a_run(ten_empty_steps)

    assert counted.commits / bench.STEPS <= 1.2


def test_a_run_that_follows_another_one_has_no_commit_for_its_claim(ten_empty_steps: str) -> None:
    cost_of_a_run(ten_empty_steps)

    with runs.a_worker() as worker, counting() as counted:
        for _ in range(3):
            runs.a_run(ten_empty_steps, {"n": 1})
        assert worker.drain_placed(until=float("inf"), stop=lambda: False)

    assert counted.commits == 1 + 3 * (1 + bench.STEPS)


def test_the_statements_of_a_run_are_a_fixed_number(ten_empty_steps: str) -> None:
    cost_of_a_run(ten_empty_steps)

    first, *others = [cost_of_a_run(ten_empty_steps).statements for _ in range(4)]

    assert others == [first] * 3
    assert first <= STATEMENTS_AT_MOST[connection.vendor]


def test_after_the_same_run_both_databases_hold_the_same_rows() -> None:
    """Compared with one file, on each of them; MILEPOST_GOLDEN=write writes it anew."""
    with registry.isolated():
        whole_runs.a_whole_workflow()
        run_id = whole_runs.a_whole_run()

    rows = json.loads(json.dumps({model.__name__: rows_of(model, run_id) for model in TABLES}))
    if os.environ.get("MILEPOST_GOLDEN") == "write":
        GOLDEN.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n")

    kept = json.loads(GOLDEN.read_text())
    for table, expected in kept.items():
        assert rows[table] == expected, table
    assert rows.keys() == kept.keys()


def rows_of(model: Any, run_id: UUID) -> list[dict[str, Any]]:
    rows = model.objects.filter(**{"pk" if model is Run else "run": run_id}).order_by("pk")
    kept = [
        field.attname
        for field in model._meta.concrete_fields
        if field.attname not in OWN and not field.attname.endswith("_id")
    ]
    return [{name: plain(getattr(row, name)) for name in kept} for row in rows]


def plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | dict):
        return value
    text = str(value)
    for pattern, name in ANOTHERS:
        text = pattern.sub(name, text)
    return text


def test_the_chain_that_the_database_made_verifies_by_the_rules() -> None:
    with registry.isolated():
        whole_runs.a_whole_workflow()
        run_id = whole_runs.a_whole_run()
        assert violations([run_id]) == []

    events = list(AuditEvent.objects.filter(run_id=run_id).order_by("seq"))
    faults, prev = [], ""
    for place, event in enumerate(events, start=1):
        faults.append(fault_of(event, prev=prev, place=place))
        prev = event.hash
    assert set(faults) == {""}
    assert Run.objects.get(pk=run_id).head == prev
