"""Lets an author run a workflow inside a test: the real engine, in the test's own process.

    import pytest
    from runs.testing import CRASH_POINTS, Receiver, Rehearsal, time_out

    @pytest.mark.django_db(transaction=True)        # Django: TransactionTestCase
    @pytest.mark.parametrize("point", CRASH_POINTS)
    def test_a_refund_is_paid_once_wherever_the_worker_dies(point):
        bank = Receiver({"id": "ch_55"})

        with Rehearsal(receivers={"bank.refund": bank}) as stage:
            stage.kill_at(point, must=False)
            run = stage.start(Refund, order="8812", amount=412)
            run.approve()
            stage.skip_timers()

            assert run.state == "succeeded"
            run.assert_happened_once("bank.refund")

`Rehearsal` starts runs and works until they have ended or wait. Nothing that a workflow declares as
an effect leaves: a `Receiver` stands in, remembers what arrives by key, and does what `will(...)`
says: `confirm`, `refuse`, `not_sent`, `later`, `time_out(happened=...)`. It recognises a key only if
the effect has a contract. `run.question` and `run.answer(...)` stand for the desk, `stage.deliver(...)`
for events, `stage.advance(...)` and `stage.skip_timers()` for time: nothing is ever waited for. When
the rehearsal ends, every invariant that the database can show is checked.

`kill_at` ends the worker by an exception that no `except Exception` catches, and gives its run to
another worker, in the same process. That proves what is committed when, what is sent again and what
is not, and what a body does that is entered a second time. It does not prove what only the death of
a process shows: `finally` blocks run, and what a module keeps in memory survives. For that there is
`manage.py drill NAME`, with real processes and SIGKILL.
"""

from runs.testing.asking import NoSuchAnswer, NothingAsked, Question
from runs.testing.kills import CRASH_POINTS, NoSuchCrashPoint
from runs.testing.outcomes import Outcome, outcome_of
from runs.testing.receivers import Receiver, confirm, later, not_sent, refuse, time_out
from runs.testing.rehearsal import Rehearsal
from runs.testing.rehearsed import RehearsedRun
from runs.testing.stand_ins import NoSuchEffect
from runs.testing.working import TestInsideTransaction, run_workflow, work

__all__ = [
    "CRASH_POINTS",
    "NoSuchAnswer",
    "NoSuchCrashPoint",
    "NoSuchEffect",
    "NothingAsked",
    "Outcome",
    "Question",
    "Receiver",
    "Rehearsal",
    "RehearsedRun",
    "TestInsideTransaction",
    "confirm",
    "later",
    "not_sent",
    "outcome_of",
    "refuse",
    "run_workflow",
    "time_out",
    "work",
]
