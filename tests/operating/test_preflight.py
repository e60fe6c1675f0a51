"""Preflight names exactly the runs that then ask or stand."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command

from runs.queries.verify import violations
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

WEIGH, PACK, POST, BILL = (
    writing("weigh", "weight"), writing("pack", "box"), posting("post"), writing("bill", "sum"),
)  # fmt: skip
OLD = [WEIGH, PACK, POST, BILL]
ADDED = [WEIGH, writing("check", "checked"), PACK, POST, BILL]
REMOVED = [WEIGH, POST, BILL]
RENAMED = [WEIGH, writing("box_up", "box"), POST, BILL]
RENAMED_WITH_WAS = [WEIGH, writing("box_up", "box", was="pack"), POST, BILL]
REORDERED = [PACK, WEIGH, POST, BILL]
CHANGED_EFFECT = [WEIGH, PACK, posting("post", changed_post), BILL]
STANDS_AT = ("weigh", "pack", "post", "bill")


@pytest.fixture(autouse=True)
def _empty() -> None:
    ENTERED.clear()
    SENT.clear()


def preflight(capsys: Any, *more: str) -> tuple[int, list[dict[str, Any]]]:
    """Its exit code, and what it says of each run that does not simply go on."""
    capsys.readouterr()
    code = 0
    try:
        call_command("workflows", "preflight", "--json", *more)
    except SystemExit as left:
        code = int(str(left.code))
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["runs"]
    return code, found


def runs_at_every_step() -> dict[str, UUID]:
    return {
        step: begun(until=step) if step != "weigh" else runs.a_run(releases.NAME)
        for step in STANDS_AT
    }


@pytest.mark.parametrize(
    ("steps", "asks"),
    [
        (ADDED, {"post", "bill"}),
        (REMOVED, {"post", "bill"}),
        (RENAMED, {"post", "bill"}),
        (RENAMED_WITH_WAS, set()),
        (REORDERED, {"pack", "post", "bill"}),
        (CHANGED_EFFECT, {"bill"}),
    ],
    ids=["added", "removed", "renamed", "renamed with was", "reordered", "changed effect"],
)
def test_preflight_predicts_exactly_the_runs_that_then_ask(
    steps: list[S], asks: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with release((1, OLD)):
        at = runs_at_every_step()

    with release((2, steps)):
        code, found = preflight(capsys)
        predicted = {each["id"] for each in found if each["strands"]}
        go_on()

    asking = {str(run_id) for run_id in at.values() if asked(run_id)}
    assert predicted == asking == {str(at[step]) for step in asks}
    assert code == int(bool(asks))
    done = {step for step, run_id in at.items() if runs.state_of(run_id) == "succeeded"}
    assert done == set(STANDS_AT) - asks
    assert violations(list(at.values())) == []


def test_preflight_names_an_approval_that_a_changed_effect_voids(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with release((1, [planning("propose"), applying("purge")])):
        approved, unapproved = runs.a_run(releases.NAME), runs.a_run(releases.NAME)
        go_on()
        runs.approve(approved)

    with release((2, [planning("propose", changed_post), applying("purge", changed_post)])):
        code, found = preflight(capsys)
        go_on()

    assert code == 1
    assert {each["id"]: each["reason"] for each in found} == {
        str(approved): "approval void",
        str(unapproved): "unchanged so far",
    }
    assert runs.state_of(approved) == "waiting"


def test_going_back_is_checked_from_the_running_release_with_a_list_of_the_older_ones_plans(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with release((1, OLD)):
        capsys.readouterr()
        call_command("workflows", "plans")
        (tmp_path / "plans.json").write_text(capsys.readouterr().out)
        first = begun(until="pack")

    with release((1, OLD), (2, ADDED)):
        second = runs.a_run(releases.NAME)
        code, found = preflight(capsys, "--plans", str(tmp_path / "plans.json"))

    assert code == 1
    assert [(each["id"], each["reason"]) for each in found] == [(str(second), "older release")]
    with release((1, OLD)):
        go_on()
    assert asked(second)
    assert runs.state_of(first) == "succeeded"


def test_preflight_names_runs_that_stand_with_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    with release((1, OLD)):
        run_id = begun(until="pack")

    with release((1, ADDED)):
        changed = preflight(capsys)
    with release():
        gone = preflight(capsys)

    assert [(code, each["id"], each["reason"]) for code, [each] in (changed, gone)] == [
        (1, str(run_id), "another plan"),
        (1, str(run_id), "unknown workflow"),
    ]
    assert "Give the changed plan version 2" in changed[1][0]["sentence"]


def test_nothing_to_say_ends_with_zero(capsys: pytest.CaptureFixture[str]) -> None:
    with release((1, OLD)):
        begun(until="pack")

        assert preflight(capsys) == (0, [])
