"""Every move of a run's state that the table allows is made, and every other one is refused."""

from itertools import product
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, transaction

from runs.ledger import effects, transitions
from runs.models import AuditEvent, Call, Run
from runs.queries.clock import db_now
from runs.rules.calls import record_of
from runs.rules.chain import Draft
from runs.rules.fence import FenceLost
from runs.rules.states import CALL_MOVES, FINAL, MOVES, CallState, RunState
from tests.durability.fences import a_held_run, a_worker_row
from tests.support import runs

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_bodies")]


def a_run_in(state: RunState) -> UUID:
    """Put there by hand, past the table of moves: only for tests of the table."""
    run_id = runs.a_run("lines_thrice", {"lines": "/dev/null"})
    ended_at = db_now() if state in FINAL else None
    worker_id = a_worker_row() if state is RunState.RUNNING else None
    Run.objects.filter(pk=run_id).update(state=state.value, ended_at=ended_at, worker_id=worker_id)
    return run_id


def try_to_move(run_id: UUID, to: RunState) -> None:
    run = transitions.lock(run_id)
    more: dict[str, Any] = {}
    if to is RunState.RUNNING:
        more["worker_id"] = run.worker_id or a_worker_row()
    tried = Draft(kind="test.moved")
    transitions.move(run, to=to, events=[tried], now=db_now(), actor="tests", **more)


@pytest.mark.parametrize(("origin", "to"), [*product(RunState, RunState)])
def test_a_run_moves_where_the_table_says_and_nowhere_else(origin: RunState, to: RunState) -> None:
    run_id = a_run_in(origin)

    if to in MOVES[origin]:
        try_to_move(run_id, to)
        assert runs.state_of(run_id) == to
        assert AuditEvent.objects.filter(run_id=run_id, kind="test.moved").count() == 1
        return

    with pytest.raises(transitions.MoveRefused, match=f"is {origin.value} and cannot become"):
        try_to_move(run_id, to)
    assert runs.state_of(run_id) == origin
    assert not AuditEvent.objects.filter(run_id=run_id, kind="test.moved").exists()


def test_whoever_moves_a_run_that_has_moved_meanwhile_is_told() -> None:
    run_id = a_run_in(RunState.QUEUED)
    seen = transitions.lock(run_id)
    try_to_move(run_id, RunState.PAUSED)
    late = [Draft(kind="test.moved")]

    with pytest.raises((transitions.MoveRefused, IntegrityError)), transaction.atomic():
        transitions.move(seen, to=RunState.FAILED, events=late, now=db_now(), actor="late")


@pytest.mark.parametrize("state", [state for state in RunState if state in FINAL])
def test_a_final_run_has_ended_and_an_open_one_has_not(state: RunState) -> None:
    run_id = a_run_in(RunState.QUEUED)

    with pytest.raises(IntegrityError, match="I10"), transaction.atomic():
        Run.objects.filter(pk=run_id).update(state=state.value, ended_at=None)


# Which ledger function makes a call what; an intended one is made by `intend`.
BOOKS = {
    CallState.SENT: lambda fence, call: effects.send_again(fence, call, allowed_by="tests"),
    CallState.CONFIRMED: lambda fence, call: effects.confirm(
        fence, call, answer={"id": "7"}, receiver_id="7", source="tests"
    ),
    CallState.REFUSED: lambda fence, call: effects.refuse(fence, call, reason="no", answer=None),
    CallState.AMBIGUOUS: lambda fence, call: effects.doubt(fence, call, error="who knows"),
}
# A call that is under way is sent once more by whoever takes it over.
MORE = {(CallState.SENT, CallState.SENT)}


@pytest.mark.parametrize(("origin", "to"), [*product(CallState, BOOKS)])
def test_a_call_moves_where_the_table_says_and_nowhere_else(
    origin: CallState, to: CallState
) -> None:
    held = a_held_run("example_call_contract", receiver="/dev/null")
    call = held.a_call("example.pay_by_contract")
    fields = {"answer": "{}", "settled_at": db_now()} if origin is CallState.CONFIRMED else {}
    Call.objects.filter(pk=call.id).update(state=origin.value, **fields)
    record = record_of(Call.objects.get(pk=call.id))

    if to in CALL_MOVES[origin] or (origin, to) in MORE:
        assert BOOKS[to](held.fence, record).state is to
        return

    with pytest.raises(FenceLost):
        BOOKS[to](held.fence, record)
    assert Call.objects.get(pk=call.id).state == origin
