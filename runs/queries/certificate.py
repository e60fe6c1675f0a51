"""What a certificate is made from, and the one that was made last."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from runs.models import Certificate as Row
from runs.queries import drills, plans, scheduled, verify
from runs.queries.visibility import visible_runs, visible_to
from runs.rules.certificate import Answer, Certificate, Evidence, Known, Recorded, badge_of
from runs.rules.plan import Plan
from runs.rules.policy import Actor

VERIFIED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownQuestion:
    """One row of it, with the answer that holds now."""

    id: str
    text: str
    answer: Answer
    evidence: tuple[Evidence, ...]
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCertificate:
    """The last certificate of a version; `valid` while the plan is the one it was made of.

    `changed` are steps whose code is another one than it was then, under the same plan.
    """

    certificate: Certificate
    made_by: str
    made_at: datetime
    valid: bool
    changed: tuple[str, ...]

    @property
    def answer(self) -> Answer:
        return badge_of(self.certificate, valid=self.valid).answer

    @property
    def rows(self) -> Iterator[ShownQuestion]:
        """Of an expired one nothing is known any more; what spoke for it then can still be read."""
        for each in self.certificate.questions:
            yield ShownQuestion(
                id=each.id,
                text=each.question,
                answer=each.answer if self.valid else Answer.UNKNOWN,
                evidence=tuple(sorted(each.evidence, key=_weakness)),
                is_open=self.valid and each.answer is not Answer.PASS,
            )


def _weakness(evidence: Evidence) -> int:
    return (Answer.FAIL, Answer.UNKNOWN, Answer.PASS).index(evidence.answer)


def known_of(actor: Actor, plan: Plan, *, stranded: int) -> Known:
    """All that the answers about a plan are made from; the engine knows which runs are stranded."""
    drill = drills.latest_drill(actor, workflow=plan.name, plan_hash=plan.hash)
    report = drills.latest_report(actor, workflow=plan.name, plan_hash=plan.hash)
    return Known(
        plan=plan,
        drill=report,
        drill_id=str(drill.pk) if drill else "",
        recorded=_recorded(actor, plan, stranded=stranded),
    )


def _recorded(actor: Actor, plan: Plan, *, stranded: int) -> Recorded:
    runs = visible_runs(actor).filter(workflow=plan.name, plan_id=plan.hash)
    last = list(runs.order_by("-created_at", "-pk").values_list("pk", flat=True)[:VERIFIED])
    return Recorded(
        stored_hash=plans.stored_hash(plan.name, plan.version),
        verified=len(last),
        violations=tuple(verify.violations(last)) if last else (),
        stranded=stranded,
        schedules=scheduled.schedules_of(actor, plan.name),
    )


def latest(
    actor: Actor, *, workflow: str, version: int, plan: Plan | None
) -> ShownCertificate | None:
    """The last one made of this version, measured against the plan as it is now."""
    found = visible_to(actor, Row.objects.filter(workflow=workflow, version=version))
    row = found.order_by("-made_at", "-id").first()
    if row is None:
        return None
    certificate = Certificate.from_text(row.body)
    now = {step.key: step.code_digest for step in plan.steps} if plan else {}
    changed = tuple(key for key, code in now.items() if certificate.code.get(key, code) != code)
    return ShownCertificate(
        certificate=certificate,
        made_by=row.made_by,
        made_at=row.made_at,
        valid=plan is not None and plan.hash == certificate.plan_hash,
        changed=changed,
    )
