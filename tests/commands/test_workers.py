"""`workers`: who works, by their leases, and who shall take nothing more."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from runs.ledger import assignments, workers
from runs.models import AuditEvent, Worker
from runs.queries.clock import db_now
from runs.queries.verify import violations
from tests.commands.saying import manage
from tests.durability.fences import a_held_run
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


def listed(*words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = manage("workers", "list", "--json", *words).json["workers"]
    return found


def test_a_worker_is_idle_then_working() -> None:
    run_id = runs.a_run("count", reference="monday")
    with runs.a_worker() as worker:
        before = listed()
        assert assignments.claim(worker_id=worker.id, plans=worker.plans)
        after = listed()

    assert [(one["id"], one["state"]) for one in before] == [(str(worker.id), "idle")]
    assert (after[0]["state"], after[0]["run_id"], after[0]["run"], after[0]["step"]) == (
        "working",
        str(run_id),
        "monday",
        "count",
    )


def test_a_worker_whose_lease_is_over_never_looks_as_if_it_worked() -> None:
    # A row alone, which nobody renews.
    a_held_run("count")
    Worker.objects.update(lease_until=db_now() - timedelta(minutes=3))

    assert listed()[0]["state"] == "stale"
    assert "lease over 3 m" in manage("workers", "list").out


def test_those_that_are_gone_are_listed_when_asked_for() -> None:
    with runs.a_worker() as worker:
        pass

    assert listed() == []
    assert [(one["id"], one["state"]) for one in listed("--all")] == [(str(worker.id), "ended")]
    assert "the test is over" in manage("workers", "list", "--all").out


def test_no_worker_is_said_aloud() -> None:
    assert "No worker is alive" in manage("workers", "list").out


def test_a_drained_worker_takes_nothing_more() -> None:
    runs.a_run("count")
    with runs.a_worker() as worker:
        said = manage("workers", "drain", str(worker.id)[:13], "--json")

        assert said.json == {"drained": [str(worker.id)], "gone": []}
        assert assignments.claim(worker_id=worker.id, plans=worker.plans) is None
        assert listed()[0]["state"] == "draining"


def test_a_worker_may_be_named_by_its_host_and_process() -> None:
    with runs.a_worker() as worker:
        row = Worker.objects.get()

        said = manage("workers", "drain", f"{row.host}/{row.pid}", "--json")

    assert said.json["drained"] == [str(worker.id)]


def test_all_workers_are_drained_at_once() -> None:
    with runs.a_worker() as one, runs.a_worker() as other:
        said = manage("workers", "drain", "--all", "--json")

    assert set(said.json["drained"]) == {str(one.id), str(other.id)}


def test_a_worker_that_is_gone_cannot_be_drained() -> None:
    with runs.a_worker() as worker:
        pass

    said = manage("workers", "drain", worker.id, "--json")

    assert said.code == 1
    assert said.json == {"drained": [], "gone": [str(worker.id)]}


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ((), 2, "Name workers, or say --all."),
        (("host/1", "--all"), 2, "Name workers, or say --all."),
        (("host/1",), 1, "There is no worker 'host/1'"),
        ((str(uuid4()),), 1, "There is no worker"),
        (("abc",), 1, "There is no worker 'abc'"),
    ],
)
def test_what_names_no_worker_is_refused(words: tuple[str, ...], code: int, sentence: str) -> None:
    said = manage("workers", "drain", *words)

    assert said.code == code
    assert sentence in said.err


def test_a_beginning_that_fits_several_workers_lists_them() -> None:
    with runs.a_worker() as one, runs.a_worker() as other:
        said = manage("workers", "drain", str(one.id)[:6])

    assert said.code == 2
    assert str(one.id) in said.err
    assert str(other.id) in said.err


def test_a_user_without_the_permission_drains_nobody() -> None:
    User.objects.create_user("bob")
    with runs.a_worker():
        said = manage("workers", "drain", "--all", "--as", "bob")

        assert said.code == 1
        assert listed()[0]["state"] == "idle"


def test_a_drain_is_recorded_and_taken_back() -> None:
    with runs.a_worker() as worker:
        manage("workers", "drain", worker.id, "--because", "a new release")
        again = manage("workers", "drain", worker.id)
        said = manage("workers", "drain", worker.id, "--undo", "--json")

        assert again.code == 1
        assert said.json == {"taken_back": [str(worker.id)], "gone": []}
        assert listed()[0]["state"] == "idle"

    kinds = AuditEvent.objects.filter(run=None, body__contains=str(worker.id)).order_by("seq")
    assert list(kinds.values_list("kind", flat=True)) == [
        "worker.drained", "worker.drain_taken_back",
    ]  # fmt: skip
    assert kinds[0].actor.startswith("local operator ")
    assert violations() == []


def test_what_drained_itself_is_not_taken_back_by_a_person() -> None:
    with runs.a_worker() as worker:
        workers.drain(worker.id)

        said = manage("workers", "drain", worker.id, "--undo")

    assert said.code == 1
    assert "Not drained by anybody" in said.err
