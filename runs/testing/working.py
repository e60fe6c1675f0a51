"""The engine at work inside a test: one worker, in the test's own process, until nothing is left to do."""

import time
from typing import Any

from django.db import connection

from runs.definition.workflow import Workflow
from runs.engine import faults, relay_courier
from runs.engine.worker import Worker
from runs.ledger import lifecycle, takeover, workers
from runs.testing.outcomes import Outcome, outcome_of, tester

LONG_ENOUGH = 600.0


class TestInsideTransaction(RuntimeError):
    """A test that runs inside a transaction cannot let a call leave; let it run outside of one."""

    __test__ = False


def run_workflow(workflow: type[Workflow], **given: Any) -> Outcome:
    """Start the workflow with this input, and work until its run has ended or waits.

    Its effects are really sent. `Rehearsal` puts receivers of your own in their place.
    """
    refuse_transaction()
    started = lifecycle.start(
        tester(), workflow=workflow.name, version=workflow.version, data=given
    )
    work()
    return outcome_of(started.id)


def work() -> None:
    """Do all that is placed, as a worker would, and send all that is relayed, as couriers would.

    Afterwards every run has ended or waits.
    """
    refuse_transaction()
    _work_once()
    while relay_courier.send_all_due():
        _work_once()


def _work_once() -> None:
    worker = Worker(on_lost=lambda: None)
    try:
        worker.enlist()
        worker.drain_placed(until=time.monotonic() + LONG_ENOUGH, stop=lambda: False)
        worker.retire(because="the test is over")
    except faults.Died as died:
        _bury(worker, because=f"its process was killed: {died}")
        raise
    except BaseException:
        worker.retire(because="the test is over")
        raise


def _bury(worker: Worker, *, because: str) -> None:
    """What the watch does about a worker whose process is dead."""
    worker.leave()
    faults.attend(None)
    workers.declare_lost(worker.id, because=because, only_if_expired=False)
    workers.prove_dead(worker.id)
    takeover.take_over(worker.id, because=because)


def refuse_transaction() -> None:
    """Nothing may leave inside a transaction (R10), so the test may not be one."""
    if connection.in_atomic_block:
        raise TestInsideTransaction(
            "This test runs inside a transaction, and the engine lets no call leave inside one. "
            "With pytest: @pytest.mark.django_db(transaction=True). "
            "With Django: TransactionTestCase instead of TestCase."
        )
