"""Workflows whose decisions have a time: told again, asked of others, not before, valid for."""

from datetime import timedelta
from typing import Any

from runs.definition import Approval, Contract, Effect, Timing, Workflow, registry, step
from tests.approvals.workflows import pay, send

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
refund = Effect(
    "shop.refund",
    send=send,
    contract=Contract("One refund a key.", window=None),
    reversible="a refund is taken back by a charge",
)


def made() -> list[type[Workflow]]:
    with registry.isolated():
        return [
            _listed("told_again", Timing(remind=[HOUR, 2 * HOUR])),
            _listed("asked_too", Timing(escalate=HOUR, escalate_to=["managers"])),
            _listed("not_before", Timing(not_before=HOUR)),
            _listed("valid_for", Timing(valid_for=HOUR)),
            _listed("ends_failed", None, on_expiry="fail"),
            _listed("refunds", None, effect=refund),
            _listed("refunds_later", Timing(not_before=HOUR), effect=refund),
            _listed("refunds_of_two", None, effect=refund, quorum=2),
            _listed("two_agree", None, quorum=2),
            _one_refund("one_refund"),
            _one_refund("one_refund_today", expires=DAY, on_expiry="cancel"),
            _timed_question(),
        ]


def _listed(
    called: str,
    timing: Timing | None,
    *,
    effect: Effect = pay,
    quorum: int = 1,
    on_expiry: Any = "stay",
) -> type[Workflow]:
    """Plans calls, has the list approved under this timing, makes them."""
    approval = Approval(
        of="calls",
        groups=["approvers"],
        timing=timing,
        quorum=quorum,
        expires=DAY if on_expiry != "stay" else None,
        on_expiry=on_expiry,
        four_eyes=False,
    )

    class Listed(Workflow):
        name, version = called, 1

        class Input:
            amounts: str = "100"

        @step(reads=["amounts"], writes=["calls"])
        def propose(self, run: Any) -> None:
            for number, amount in enumerate(run.read("amounts").split(), start=1):
                to = f"{called}-{number}"
                request = {"to": to, "amount": int(amount), "customer": {"country": "DE"}}
                run.plan("calls", effect, resource=to, request=request, evidence={"who": to})

        @step(reads=["calls"], writes=["made"], effects=[effect], approval=approval)
        def settle(self, run: Any) -> None:
            run.write("made", dict(run.apply("calls")))

    return Listed


def _one_refund(called: str, **more: Any) -> type[Workflow]:
    class OneRefund(Workflow):
        """Calls beside its list, which is empty: each is asked about by itself."""

        name, version = called, 1

        class Input:
            amount: int = 1

        @step(reads=["amount"], writes=["calls"])
        def propose(self, run: Any) -> None:
            run.read("amount")

        @step(
            reads=["calls", "amount"],
            effects=[refund],
            approval=Approval(of="calls", groups=["approvers"], **more),
        )
        def settle(self, run: Any) -> None:
            run.call(refund, resource="r-1", request={"to": "r-1", "amount": run.read("amount")})

    return OneRefund


def _timed_question() -> type[Workflow]:
    class TimedQuestion(Workflow):
        """Reminds once, and asks others after two hours."""

        name, version = "timed_question", 1

        @step(writes=["answer"])
        def ask(self, run: Any) -> None:
            timing = Timing(remind=[HOUR], escalate=2 * HOUR, escalate_to=["managers"])
            run.write("answer", run.ask("go on", question="Go on?", timing=timing))

    return TimedQuestion
