"""Plans, drills and records of runs for the tests of certificates."""

from datetime import timedelta
from typing import Any

from runs.definition import Approval, Effect, Heartbeat, Waived, Workflow, registry, step
from runs.rules.certificate import Certificate, Evidence, Known, Recorded
from runs.rules.certifying import certificate_of
from runs.rules.drill_report import DrillReport
from runs.rules.plan import Plan, plan_of
from runs.rules.violations import Violation
from tests.definition.builders import a_harmless_effect, answers

pay = Effect("bank.pay", send=answers, probe=lambda key, request: None)
tell = a_harmless_effect()
BEAT = Heartbeat(every=timedelta(seconds=30), grace=timedelta(minutes=2))


def _paying(effects: tuple[Effect, ...], approval: Any, beats: bool) -> type[Workflow]:
    class Paying(Workflow):
        name, version = "paying", 1
        heartbeat = BEAT if beats else None

        class Input:
            order: str

        @step(reads=["order"], writes=["bills"])
        def propose(self, run: Any) -> None:
            run.plan("bills", effects[0], resource="1", request={})

        @step(reads=["bills"], effects=list(effects), approval=approval)
        def settle(self, run: Any) -> None:
            run.apply("bills")

    return Paying


def a_plan(*effects: Effect, waived: str = "", beats: bool = True) -> Plan:
    """Propose, then settle with these effects, after an approval or under a waiver."""
    approval = Waived(waived) if waived else Approval(of="bills")
    with registry.isolated():
        return plan_of(_paying(effects or (pay, tell), approval, beats))


def a_drill(plan: Plan, **found: Any) -> DrillReport:
    """A drill in which everything went well, but for what is said."""
    told = {"kills": 12, "redeliveries": 3, "runs": 12, "effects": 4, "keys": 4} | found
    return DrillReport(
        workflow=plan.name,
        version=plan.version,
        plan_hash=plan.hash,
        release="1",
        database="sqlite",
        command="drill paying",
        seed=None,
        started_at="2026-01-01T00:00:00+00:00",
        ended_at="2026-01-01T00:01:00+00:00",
        **told,
    )


def recorded(plan: Plan, **said: Any) -> Recorded:
    told: dict[str, Any] = {
        "stored_hash": plan.hash,
        "verified": 2,
        "violations": (),
        "stranded": 0,
    }
    return Recorded(**(told | said))


def a_violation(invariant: str) -> Violation:
    return Violation(invariant=invariant, run="r1", text=f"{invariant} does not hold")


def certified(
    plan: Plan | None = None, drill: DrillReport | None = None, **said: Any
) -> Certificate:
    plan = plan or a_plan()
    known = Known(plan=plan, drill=drill, drill_id="d1", recorded=recorded(plan, **said))
    return certificate_of(known, made_at="2026-01-02T00:00:00+00:00")


def answers_of(certificate: Certificate) -> dict[str, str]:
    return {question.id: question.answer.value for question in certificate.questions}


def evidence_of(certificate: Certificate, question: str, answer: str) -> list[Evidence]:
    """What speaks for this answer to the question."""
    (asked,) = [each for each in certificate.questions if each.id == question]
    return [each for each in asked.evidence if each.answer == answer]
