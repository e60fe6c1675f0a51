"""`runs.testing` under Django's own test cases, and what it says where it cannot work."""

import inspect
from typing import Any

import pytest
from django.test import TestCase, TransactionTestCase

import runs.testing
from runs.definition import registry
from runs.testing import Rehearsal, TestInsideTransaction, run_workflow, work
from tests.definition.refunds import Refund, SmallRefund


class RefundsInTransactionTestCase(TransactionTestCase):
    def test_a_refund_is_rehearsed(self) -> None:
        with registry.isolated():
            registry.register(Refund)
            with Rehearsal() as stage:
                run = stage.start(Refund, order="8812", amount=400)
                run.approve()
                stage.skip_timers()

        assert run.facts["refunds"]["count"] == 2
        run.assert_happened_once("bank.refund", times=2)


class RefundsInTestCase(TestCase):
    def test_a_transaction_around_the_test_is_refused_with_what_to_do(self) -> None:
        for attempt in (lambda: run_workflow(Refund), work, Rehearsal().__enter__):
            with pytest.raises(TestInsideTransaction, match="TransactionTestCase"):
                attempt()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("point", ["claimed", "sent"])
def test_the_example_in_the_documentation_passes(point: str) -> None:
    doc = inspect.cleandoc(runs.testing.__doc__ or "")
    example = "import pytest" + doc.partition("    import pytest")[2].partition("\n`Rehearsal`")[0]
    names: dict[str, Any] = {"Refund": SmallRefund}
    exec(compile(example.replace("\n    ", "\n"), "runs.testing", "exec"), names)  # noqa: S102

    with registry.isolated():
        registry.register(SmallRefund)
        names["test_a_refund_is_paid_once_wherever_the_worker_dies"](point)
