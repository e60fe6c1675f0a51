"""People are reminded of what waits for them, and others are asked too: each once, by the clock."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import F

from approvals.models import Audience, Decision, Notice
from approvals.queries.delegations import receivers
from approvals.queries.people import deciders
from approvals.rules.timing import TimingAsked
from runs.ledger import deferring
from runs.ledger.commits import commits
from runs.ledger.telling import tell
from runs.ledger.waits import WaitClosed, lock_open
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.states import RunState

CLOCK = "the clock"


def plan(decision: Decision, timing: TimingAsked, *, now: datetime) -> None:
    """Keep when people are told again; the caller owns the transaction in which the run parks."""
    notices = [
        Notice(decision=decision, kind="reminder", number=number, due_at=now + after)
        for number, after in enumerate(timing.remind, start=1)
    ]
    if timing.escalate is not None:
        groups = canonical.dumps(list(timing.escalate_to))
        due_at = now + timing.escalate
        notices.append(
            Notice(decision=decision, kind="escalation", number=1, groups=groups, due_at=due_at)
        )
    Notice.objects.bulk_create(notices)


def tell_opened(decision: Decision, *, groups: Sequence[str]) -> None:
    """Title and link only: what is asked about stays on the page, behind the sign-in."""
    may_answer = deciders(tenant_id=decision.tenant_id, groups=groups)
    people = list(may_answer.values_list("pk", flat=True)[:50])
    in_place = receivers(tenant_id=decision.tenant_id, givers=people, now=db_now())
    tell(
        tenant_id=decision.tenant_id,
        run_id=decision.run_id,
        kind="decision.opened",
        title=f"{decision.workflow} waits for a decision before {decision.step} goes on",
        link=f"/decisions/{decision.pk}/",
        dedup_key=f"decision.opened:{decision.wait_id}",
        workflow=decision.workflow,
        users=[*people, *in_place],
    )


@commits("notice_told", when=bool)
def tell_due(notice_id: int) -> bool:
    """Tell whom a notice that is due is for; False when another watch has done so.

    Of those of a kind that are due together the last is told, and the others are put away; so is one
    that nobody is asked about any more.
    """
    seen = Notice.objects.select_related("decision").filter(pk=notice_id).first()
    if seen is None:
        return False
    with transaction.atomic():
        try:
            run, _ = lock_open(seen.decision.wait_id)
        except WaitClosed:
            return bool(Notice.objects.filter(pk=notice_id, told_at=None).delete()[0])
        now = db_now()
        # The run is locked, so of two watches one waits here and finds that it was told.
        due = Notice.objects.filter(
            decision_id=seen.decision_id, kind=seen.kind, told_at=None, due_at__lte=now
        )
        decision = Decision.objects.get(pk=seen.decision_id)
        # While an answer waits for its time nobody is asked; should it be taken back, they are.
        stands = run.state == RunState.PAUSED or decision.takes_effect_at is not None
        last = None if stands else due.order_by("number").last()
        if last is None or not due.filter(pk=last.pk).update(told_at=now):
            return False
        missed, _ = due.delete()
        _tell(last, decision, missed=missed)
    return True


def go_on(wait_id: int, *, since: datetime, now: datetime) -> None:
    """Its run stood still from then until now; the caller owns the transaction and holds the run.

    What was due before stays due, and what was not is as far away as it was.
    """
    untold = Notice.objects.filter(decision__wait_id=wait_id, told_at=None, due_at__gt=since)
    untold.update(due_at=F("due_at") + (now - since))


def _tell(notice: Notice, decision: Decision, *, missed: int) -> None:
    groups = canonical.loads(notice.groups)
    if notice.kind == "escalation":
        _ask_too(decision, groups)
    tell(
        tenant_id=decision.tenant_id,
        run_id=decision.run_id,
        kind=f"decision.{notice.kind}",
        title=_title(notice, decision),
        link=f"/decisions/{decision.pk}/",
        dedup_key=f"decision.{notice.kind}:{decision.pk}:{notice.number}",
        workflow=decision.workflow,
        groups=groups or list(decision.audience.values_list("group", flat=True)),
    )
    facts = {
        "decision": decision.pk,
        "number": notice.number,
        "groups": groups,
        **({"missed": missed} if missed else {}),
    }
    deferring.note(decision.wait_id, f"decision.{notice.kind}", by=CLOCK, facts=facts)


def _ask_too(decision: Decision, groups: list[str]) -> None:
    """They may answer as well. What whoever may decide may answer stays open to all of them."""
    if decision.audience.exists():
        rows = [Audience(decision=decision, group=name) for name in groups]
        Audience.objects.bulk_create(rows, ignore_conflicts=True)


def _title(notice: Notice, decision: Decision) -> str:
    still = f"{decision.workflow} still waits for a decision before {decision.step} goes on"
    if notice.kind == "escalation":
        return f"{still}: nobody has answered, so you are asked too"
    return still
