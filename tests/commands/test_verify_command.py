"""`verify`: 0 and an empty list while all is well, 1 and every violation when not."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import pytest
from django.db import transaction

from runs.models import Step
from runs.queries import verify
from tests.commands.saying import manage
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _without_other_apps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "_of_other_apps", [])


@contextmanager
def damaged(run_id: UUID) -> Iterator[None]:
    with transaction.atomic():
        runs.without_guards()
        Step.objects.filter(run=run_id, key="count").update(facts='{"counted":9}')
        yield
        transaction.set_rollback(True)


def test_nothing_is_wrong_with_what_the_engine_wrote() -> None:
    for workflow in ("count", "ask", "await", "nap", "fail"):
        runs.a_run(workflow)
    runs.drain()

    said = manage("verify", "--files", "--json")

    assert (said.code, said.json) == (0, {"violations": []})
    assert manage("verify").out.strip() == "Every invariant holds."


def test_every_violation_is_told_with_its_invariant_and_its_run() -> None:
    run_id = runs.a_run("count")
    runs.drain()

    with damaged(run_id):
        as_json, said = manage("verify", "--json"), manage("verify")

    named = {
        "invariant": "I1",
        "run": str(run_id),
        "text": "The facts of step count are not what their digest covers.",
    }
    assert as_json.code == said.code == 1
    assert named in as_json.json["violations"]
    assert f"I1   run {run_id}: The facts of step count" in said.out
    assert "violations" in said.err


def test_only_the_runs_named_are_checked() -> None:
    run_id, other = runs.a_run("count", reference="one"), runs.a_run("count", reference="other")
    runs.drain()

    with damaged(run_id):
        found = manage("verify", "--run", "other", "--json").json["violations"]

    assert {one["invariant"] for one in found} == {"R20"}
    assert runs.state_of(other) == "succeeded"


@pytest.mark.parametrize("name", ["nothing", "0" * 32])
def test_a_run_that_is_not_there_ends_with_1(name: str) -> None:
    said = manage("verify", "--run", name)

    assert said.code == 1
    assert "There is no run" in said.err
