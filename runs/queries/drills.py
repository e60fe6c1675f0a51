"""Which drills there were, and what they found."""

from uuid import UUID

from runs.models import Drill, Tick
from runs.queries.visibility import visible_to
from runs.rules.drill_report import DrillReport
from runs.rules.policy import Actor

LISTED = 100
SCRATCH = "scratch of a drill"


def latest_report(actor: Actor, *, workflow: str, plan_hash: str) -> DrillReport | None:
    """The newest drill of exactly this plan that was finished; an aborted one says nothing of it."""
    drill = (
        visible_to(actor, Drill.objects.all())
        .filter(workflow=workflow, plan_hash=plan_hash)
        .exclude(state="aborted")
        .order_by("-started_at", "-id")
        .first()
    )
    return None if drill is None else DrillReport.from_text(drill.report)


def latest_drill(actor: Actor, *, workflow: str, plan_hash: str) -> Drill | None:
    """The row behind `latest_report`, for a link to its page."""
    found = visible_to(actor, Drill.objects.all()).filter(workflow=workflow, plan_hash=plan_hash)
    return found.exclude(state="aborted").order_by("-started_at", "-id").first()


def newest_drills(actor: Actor, *, workflow: str = "") -> list[Drill]:
    """The last hundred, newest first."""
    found = visible_to(actor, Drill.objects.defer("report"))
    if workflow:
        found = found.filter(workflow=workflow)
    return list(found.order_by("-started_at", "-id")[:LISTED])


def failing(actor: Actor) -> list[Drill]:
    """Of each workflow the newest drill that was finished, where it failed."""
    recent = visible_to(actor, Drill.objects.defer("report")).exclude(state="aborted")
    newest: dict[str, Drill] = {}
    for drill in recent.order_by("-started_at", "-id")[:LISTED]:
        newest.setdefault(drill.workflow, drill)
    return [drill for drill in newest.values() if drill.state == "failed"]


def drill_named(actor: Actor, drill_id: UUID) -> Drill | None:
    return visible_to(actor, Drill.objects.all()).filter(pk=drill_id).first()


def scratch_mark() -> str:
    """The mark that a drill has made in its own database; empty in every other one."""
    return Tick.objects.filter(duty=SCRATCH).values_list("holder", flat=True).first() or ""


def require_room() -> None:
    """Before the work is done, see that its report can be stored; raises the database's own error."""
    Drill.objects.exists()
