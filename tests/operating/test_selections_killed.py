"""What is done to many runs, broken off at any statement: each run is moved whole or not at all, and once."""

import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import Permission, User
from django.db import OperationalError, connection

from runs.engine import ordered
from runs.engine.ordered import SELECTIONS, Ordered
from runs.ledger import selecting
from runs.models import AuditEvent, Run, Selection, SelectionItem
from runs.queries import selections
from runs.queries.actors import actor_for
from runs.queries.verify import violations
from runs.rules.together import Together
from tests.support import runs
from tests.support.programs import Site

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_moves")]


def one_of_a_selection() -> tuple[UUID, int]:
    """A run that waits, and its item in a selection that is to be cancelled."""
    run_id = runs.a_run("surveys")
    runs.drain()
    person, _ = User.objects.get_or_create(username="omar")
    person.user_permissions.set(Permission.objects.filter(codename="operate"))
    actor = actor_for(person)
    selection = selecting.choose(actor, [run_id], verb=Together.CANCEL, asked_for="")
    selecting.begin(actor, selection.pk, because="All of them.")
    return run_id, SelectionItem.objects.get(selection=selection).pk


def standing_of(run_id: UUID, item_id: int) -> tuple[object, ...]:
    """All that doing it changes."""
    item = SelectionItem.objects.select_related("selection").get(pk=item_id)
    told = AuditEvent.objects.filter(run=run_id).count()
    return (Run.objects.get(pk=run_id).state, item.outcome, item.selection.state, told)


class Breaking:
    """The database is away from one statement on; before it, statements are counted."""

    def __init__(self, at: int | None) -> None:
        self.at, self.made = at, 0

    def __call__(self, execute: Callable[..., Any], *statement: Any) -> Any:
        self.made += 1
        if self.at is not None and self.made >= self.at:
            raise OperationalError("The database is away.")
        return execute(*statement)


@contextmanager
def breaking(at: int | None) -> Iterator[Breaking]:
    counted = Breaking(at)
    with connection.execute_wrapper(counted):
        yield counted


def test_a_database_that_goes_away_at_any_statement_leaves_both_the_run_and_its_item() -> None:
    # The first of its kind may look something up that the others know.
    ordered.do_item(SELECTIONS, one_of_a_selection()[1])
    _, like_it = one_of_a_selection()
    with breaking(None) as counted:
        ordered.do_item(SELECTIONS, like_it)
    run_id, item_id = one_of_a_selection()
    before = standing_of(run_id, item_id)

    for at in range(1, counted.made + 1):
        with breaking(at), pytest.raises(OperationalError):
            ordered.do_item(SELECTIONS, item_id)
        assert standing_of(run_id, item_id) == before, at
    Ordered(SELECTIONS).go_round()

    assert standing_of(run_id, item_id)[:3] == ("cancelled", "done", "done")
    assert AuditEvent.objects.filter(run=run_id, kind="run.cancelled").count() == 1
    assert violations([run_id]) == []


@pytest.mark.long
@pytest.mark.processes
def test_whoever_is_killed_at_any_statement_has_moved_the_run_whole_or_not_at_all(
    site: Site,
) -> None:
    counted = re.search(r"statements (\d+)", strike(site, {"never": one_of_a_selection()}))
    assert counted is not None
    places = [*map(str, range(1, int(counted[1]))), "before", "after"]
    strokes = {at: one_of_a_selection() for at in places}
    before = {at: standing_of(*stroke) for at, stroke in strokes.items()}

    said = strike(site, strokes)

    for at, (run_id, item_id) in strokes.items():
        assert f"{item_id} -{int(signal.SIGKILL)}" in said.splitlines(), at
        assert (standing_of(run_id, item_id) == before[at]) == (at != "after"), at
    assert violations() == []
    while selections.items_due(at_most=1):
        Ordered(SELECTIONS).go_round()
    ends = {standing_of(*stroke) for stroke in strokes.values()}
    assert len(ends) == 1, ends
    assert set(Selection.objects.values_list("state", flat=True)) == {"done"}
    assert violations() == []


def strike(site: Site, strokes: dict[str, tuple[UUID, int]]) -> str:
    program = site.launch(
        sys.executable,
        "-m",
        "tests.approvals.struck_clock",
        "selection",
        *(f"{item_id}:{at}" for at, (_, item_id) in strokes.items()),
        DJANGO_SETTINGS_MODULE="config.settings",
    )
    assert program.ended(within=240) == 0, program.said()
    return program.said()
