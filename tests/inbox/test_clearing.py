"""The copy of an inbox goes when its run, and whatever was begun in its place, is over for long enough."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from pytest_django import Settings

from runs.examples.inbox import clearing
from runs.ledger import lifecycle, restarting
from runs.models import AuditEvent
from runs.queries.clock import db_now
from runs.queries.verify import violations
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def inboxes(settings: Settings, tmp_path: Path) -> Path:
    settings.VAR_DIR = tmp_path
    return tmp_path / "inboxes"


def a_copy_of(inboxes: Path, run_id: UUID) -> Path:
    folder = inboxes / str(run_id)
    (folder / "new").mkdir(parents=True)
    (folder / "new" / "1").write_text("Hello")
    return folder


def cancelled() -> UUID:
    run_id = runs.a_run("example_log")
    lifecycle.cancel(runs.the_operator(), run_id, because="tests")
    return run_id


def test_copies_of_runs_that_are_long_over_go_with_a_record(inboxes: Path) -> None:
    over, open_ = (a_copy_of(inboxes, each) for each in (cancelled(), runs.a_run("example_log")))
    strange = inboxes / "notes"
    strange.mkdir()

    assert clearing.count(db_now() - timedelta(days=1)) == 0
    later = db_now() + timedelta(days=1)
    assert (clearing.count(later), clearing.remove(later, 10, "ann")) == (1, 1)

    assert [each.exists() for each in (over, open_, strange)] == [False, True, True]
    told = AuditEvent.objects.get(kind="inbox.cleared")
    assert (told.actor, over.name in told.body) == ("ann", True)
    assert clearing.remove(later, 10, "ann") == 0
    assert violations() == []


def test_the_copy_stays_while_a_run_that_was_begun_in_its_place_goes_on(inboxes: Path) -> None:
    """I14"""
    old = cancelled()
    folder = a_copy_of(inboxes, old)
    new = restarting.restart(runs.the_operator(), old, because="anew").id

    later = db_now() + timedelta(days=1)
    assert clearing.remove(later, 10, "ann") == 0
    lifecycle.cancel(runs.the_operator(), new, because="tests")

    assert (folder.exists(), clearing.remove(later, 10, "ann")) == (True, 1)
