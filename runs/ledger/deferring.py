"""An answer takes effect later: until then its wait stays open, under the clock that will close it."""

from datetime import datetime
from typing import Any

from runs.ledger import transitions
from runs.ledger.waits import lock_open
from runs.models import Run, Wait
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.states import TAKES_EFFECT, WaitState


def defer(wait_id: int, *, until: datetime, by: str, facts: dict[str, Any]) -> None:
    """Let the answer that an open wait has got take effect at `until`; the caller owns the transaction.

    Raises WaitClosed when somebody or something was first (I13).
    """
    run, wait = lock_open(wait_id)
    _set_clock(run, wait, due_at=until, on_due=TAKES_EFFECT)
    _note(run, wait, "decision.deferred", by=by, facts={**facts, "takes_effect": until.isoformat()})


def undefer(
    wait_id: int, *, due_at: datetime | None, on_due: str, by: str, facts: dict[str, Any]
) -> None:
    """The answer will not take effect: the wait is closed as it was declared to be, or answered anew.

    Raises WaitClosed when the answer has taken effect already.
    """
    run, wait = lock_open(wait_id)
    _set_clock(run, wait, due_at=due_at, on_due=on_due)
    _note(run, wait, "decision.answer_withdrawn", by=by, facts=facts)


def note(wait_id: int, kind: str, *, by: str, facts: dict[str, Any]) -> None:
    """Tell the chain of something that changes neither the wait nor its run."""
    run, wait = lock_open(wait_id)
    _note(run, wait, kind, by=by, facts=facts)


def _set_clock(run: Run, wait: Wait, *, due_at: datetime | None, on_due: str) -> None:
    # The run is locked, and so is the wait: nobody can have closed it since it was read.
    Wait.objects.filter(pk=wait.pk, state=WaitState.OPEN.value).update(
        due_at=due_at, on_due=on_due, fence=run.fence
    )


def _note(run: Run, wait: Wait, kind: str, *, by: str, facts: dict[str, Any]) -> None:
    body = canonical.dumps({"wait": wait.name, "by": by, **facts})
    event = Draft(kind=kind, step=wait.step, body=body)
    transitions.note(run, events=[event], now=db_now(), actor=by)
