"""Which drills there were, and what they found."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from runs.definition.workflow import Workflow
from runs.models import Drill, DrillUnderWay, Tick
from runs.queries.clock import db_now
from runs.queries.visibility import visible_to
from runs.rules import inputs
from runs.rules.drill_report import DrillReport
from runs.rules.inputs import InvalidInput
from runs.rules.policy import Actor

LISTED = 100
SCRATCH = "scratch of a drill"
# It says every few seconds that it goes on; of what says nothing for so long there is nothing left.
HEARD_WITHIN = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderWay:
    """A drill without a report yet; `is_gone` when its program has said nothing for too long."""

    id: UUID
    workflow: str
    command: str
    started_by: str
    started_at: datetime
    seen_at: datetime
    stopped_by: str
    is_gone: bool


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


def under_way(actor: Actor, *, workflow: str = "") -> list[UnderWay]:
    """Those that are being played, oldest first."""
    found = visible_to(actor, DrillUnderWay.objects.all()).order_by("started_at", "id")
    rows = list(found.filter(workflow=workflow) if workflow else found)
    before = db_now() - HEARD_WITHIN if rows else None
    return [
        UnderWay(
            id=row.pk,
            workflow=row.workflow,
            command=row.command,
            started_by=row.started_by,
            started_at=row.started_at,
            seen_at=row.seen_at,
            stopped_by=row.stopped_by,
            is_gone=before is not None and row.seen_at < before,
        )
        for row in rows
    ]


def version_of(playing: list[UnderWay], listed: list[Drill]) -> str:
    """Changes with whatever of the list changes."""
    states = "".join(f"{each.id.hex[-6:]}{each.stopped_by:.1}{each.is_gone:d}" for each in playing)
    return f"{states}-{listed[0].pk.hex[-6:] if listed else ''}"


def why_no_drill(workflow: type[Workflow]) -> str:
    """Why a workflow cannot be drilled as it stands here; empty when it can."""
    try:
        inputs.validated(workflow, dict(workflow.drilled_with))
    except InvalidInput as invalid:
        return f"{invalid}. Write drilled_with = {{...}} in the workflow, or give --input."
    return ""


def failing(actor: Actor) -> list[Drill]:
    """Of each workflow the newest drill that was finished, where it failed."""
    recent = visible_to(actor, Drill.objects.defer("report")).exclude(state="aborted")
    newest: dict[str, Drill] = {}
    for drill in recent.order_by("-started_at", "-id")[:LISTED]:
        newest.setdefault(drill.workflow, drill)
    return [drill for drill in newest.values() if drill.state == "failed"]


def drill_named(actor: Actor, drill_id: UUID) -> Drill | None:
    return visible_to(actor, Drill.objects.all()).filter(pk=drill_id).first()


def is_known(actor: Actor, drill_id: UUID) -> bool:
    """Whether there is such a drill, under way or over."""
    playing = visible_to(actor, DrillUnderWay.objects.filter(pk=drill_id))
    return playing.exists() or drill_named(actor, drill_id) is not None


def scratch_mark() -> str:
    """The mark that a drill has made in its own database; empty in every other one."""
    return Tick.objects.filter(duty=SCRATCH).values_list("holder", flat=True).first() or ""


def require_room() -> None:
    """Before the work is done, see that its report can be stored; raises the database's own error."""
    Drill.objects.exists()
