"""Keep what a drill has found."""

from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction

from runs.ledger import audit, tenants
from runs.ledger.commits import commits
from runs.models import Drill, DrillUnderWay, Run, Tick, Wait
from runs.models.drill import new_drill_id
from runs.queries import drills
from runs.queries.clock import db_now
from runs.queries.visibility import visible_to
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.drill_report import DrillReport
from runs.rules.policy import Actor, Verb, require
from runs.rules.states import WaitKind, WaitState

REPLACED = "another drill that took its place"


class NotAScratch(Exception):
    """This database holds runs, or was not made for a drill; nothing is rehearsed on it."""


class AlreadyDrilling(Exception):
    """A drill that was begun from a page is under way: wait for its report, or stop it."""


@commits("drill_noted")
def begin(
    actor: Actor,
    *,
    workflow: str,
    command: str,
    from_page: bool = False,
    tenant: str = tenants.DEFAULT,
) -> UUID:
    """Say that a drill is under way, under the id that its report will have.

    Raises AlreadyDrilling, NoSuchTenant, NotAllowed.
    """
    require(actor, Verb.OPERATE)
    owner, now = tenants.owner(actor, tenant, to="drill"), db_now()
    try:
        with transaction.atomic():
            DrillUnderWay.objects.filter(seen_at__lt=now - drills.HEARD_WITHIN).delete()
            begun = DrillUnderWay.objects.create(
                tenant=owner,
                workflow=workflow,
                command=command[:500],
                from_page=from_page,
                started_by=actor.name,
                started_at=now,
                seen_at=now,
            )
    except IntegrityError:
        raise AlreadyDrilling("Another drill is under way; wait for it, or stop it.") from None
    return begun.pk


@commits("drill_noted")
def go_on(drill_id: UUID) -> str:
    """Say that a drill is still under way; who wants it stopped, if anybody does."""
    rows = DrillUnderWay.objects.filter(pk=drill_id)
    if not rows.update(seen_at=db_now()):
        return REPLACED
    return rows.values_list("stopped_by", flat=True).first() or ""


@commits("drill_noted", when=bool)
def stop(actor: Actor, drill_id: UUID) -> bool:
    """Have a drill that is under way be stopped; False when it is over, or to be stopped already."""
    require(actor, Verb.OPERATE)
    rows = visible_to(actor, DrillUnderWay.objects.filter(pk=drill_id, stopped_by=""))
    return bool(rows.update(stopped_by=actor.name))


@commits("drill_noted")
def let_go(drill_id: UUID) -> None:
    """It comes to no report."""
    DrillUnderWay.objects.filter(pk=drill_id).delete()


@commits("drill_kept")
def keep(
    actor: Actor,
    report: DrillReport,
    *,
    tenant: str = tenants.DEFAULT,
    under_way: UUID | None = None,
) -> UUID:
    """Store the report of a drill, with one event on its tenant's chain; it is no more under way.

    Raises NoSuchTenant, NotAllowed.
    """
    require(actor, Verb.OPERATE)
    with transaction.atomic():
        owner = tenants.owner(actor, tenant, to="drill")
        if under_way is not None:
            DrillUnderWay.objects.filter(pk=under_way).delete()
        drill = Drill.objects.create(
            id=under_way or new_drill_id(),
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
