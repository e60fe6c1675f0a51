"""Keep what a drill has found."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from runs.ledger import audit, tenants
from runs.ledger.commits import commits
from runs.models import Drill, Run, Tenant, Tick, Wait
from runs.queries import drills
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.drill_report import DrillReport
from runs.rules.policy import Actor, Verb, require
from runs.rules.states import WaitKind, WaitState


class NotAScratch(Exception):
    """This database holds runs, or was not made for a drill; nothing is rehearsed on it."""


@commits("drill_kept")
def keep(actor: Actor, report: DrillReport, *, tenant: str = tenants.DEFAULT) -> UUID:
    """Store the report of a drill, with one event on its tenant's chain."""
    require(actor, Verb.OPERATE)
    with transaction.atomic():
        owner = Tenant.objects.get(slug=tenant)
        drill = Drill.objects.create(
            tenant=owner,
            workflow=report.workflow,
            version=report.version,
            plan_hash=report.plan_hash,
            state=report.state.value,
            started_by=actor.name,
            started_at=datetime.fromisoformat(report.started_at),
            ended_at=datetime.fromisoformat(report.ended_at),
            sentence=report.sentence,
            report=report.to_text(),
        )
        body = {
            "drill": str(drill.pk),
            "workflow": report.workflow,
            "plan_hash": report.plan_hash,
            "state": report.state.value,
            "report": canonical.digest(drill.report),
        }
        kept = Draft(kind="drill.kept", body=canonical.dumps(body))
        audit.append_to_tenant(owner.pk, [kept], now=db_now(), actor=actor.name)
    return drill.pk


def mark_scratch(mark: str) -> None:
    """Say that this database was made for one drill; only one that never held a run can be marked."""
    with transaction.atomic():
        if Run.objects.exists() or Drill.objects.exists() or drills.scratch_mark():
            raise NotAScratch("A drill makes its own database; this one is somebody's.")
        Tick.objects.create(duty=drills.SCRATCH, holder=mark, at=db_now())


def hasten(wait_id: int) -> bool:
    """In a rehearsal, let a timer or a retry be due now; False when it has been closed meanwhile."""
    with transaction.atomic():
        if not drills.scratch_mark():
            raise NotAScratch("Time passes faster in a drill only.")
        rows = Wait.objects.filter(pk=wait_id, state=WaitState.OPEN.value)
        timed = rows.filter(kind__in=[WaitKind.TIMER.value, WaitKind.RETRY.value])
        return bool(timed.update(due_at=db_now()))
