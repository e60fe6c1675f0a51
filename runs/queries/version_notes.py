"""What people are told of versions: whose code is here, who runs under which, and whose code has changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count

from runs.definition import registry
from runs.definition.registry import UnknownWorkflow
from runs.models import AuditEvent, Run
from runs.models import Plan as StoredPlan
from runs.queries.versions import known_by_workers, why_nobody_takes
from runs.queries.visibility import visible_runs
from runs.rules import canonical
from runs.rules.plan import BrokenWorkflow, Plan, plan_of
from runs.rules.policy import Actor
from runs.rules.states import FINAL, RunState
from runs.rules.versions import changed_code, code_digests


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionNotes:
    """Of one run: why nobody can go on with it, and which steps' code is another one than at first."""

    mismatch: str = ""
    changed: Sequence[str] = ()
    unread: str = ""

    @property
    def warnings(self) -> list[str]:
        said = [f"{self.mismatch[:1].upper()}{self.mismatch[1:]}."] if self.mismatch else []
        return said + ([_about_code(self.changed)] if self.changed else [])


def _about_code(steps: Sequence[str]) -> str:
    if len(steps) == 1:
        return (
            f"The code of step {steps[0]} has changed since this run began, under the same version."
        )
    return (
        f"The code of {', '.join(steps)} has changed since this run began, under the same version."
    )


def notes_of(run: Run) -> VersionNotes:
    """In two queries; of a run that has ended only whether its code is here."""
    here = plan_here(run.workflow, run.version)
    unread = "" if here else f"The code of {run.workflow} version {run.version} is not here"
    if RunState(run.state) in FINAL:
        return VersionNotes(unread=unread)
    held = run.state == RunState.RUNNING
    return VersionNotes(
        mismatch="" if held else why_nobody_takes(run, known_by_workers()),
        changed=changed_steps(run),
        unread=unread,
    )


def changed_steps(run: Run) -> Sequence[str]:
    """Steps whose source text is another one than when the run came under its present plan."""
    here = plan_here(run.workflow, run.version)
    if here is None or here.hash != run.plan_id:
        return ()
    began = AuditEvent.objects.filter(run=run, kind__in=("run.started", "run.version_changed"))
    body = began.order_by("-seq").values_list("body", flat=True).first()
    return changed_code(canonical.loads(body).get("code", {}), here) if body else ()


def changed_since_first_started(plan: Plan) -> Sequence[str]:
    """The same for a version as a whole: against the code it was first started with."""
    bodies = StoredPlan.objects.filter(hash=plan.hash).values_list("body", flat=True)
    return changed_code(code_digests(Plan.from_text(bodies[0])), plan) if bodies else ()


def plan_here(name: str, version: int) -> Plan | None:
    """The plan of this version in the code of this process."""
    try:
        return plan_of(registry.get(name, version))
    except (UnknownWorkflow, BrokenWorkflow):
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionLine:
    """A version of a workflow: is its code here, how many live workers know it, who runs under it."""

    version: int
    here: bool
    workers: int
    open_runs: int
    plan_hash: str
    other_plan: bool
    changed: Sequence[str]


def version_lines(
    actor: Actor, name: str, *, versions: Sequence[int], stored: Mapping[int, str]
) -> list[VersionLine]:
    """One line a version, the newest first."""
    open_runs = visible_runs(actor).filter(workflow=name)
    open_runs = open_runs.exclude(state__in=[state.value for state in FINAL]).order_by()
    amounts = dict(open_runs.values_list("version").annotate(amount=Count("pk")))
    known = known_by_workers()
    return [
        _line(name, version, known.holders.get((name, version), 0), amounts.get(version, 0), stored)
        for version in versions
    ]


def _line(
    name: str, version: int, workers: int, open_runs: int, stored: Mapping[int, str]
) -> VersionLine:
    plan, kept = plan_here(name, version), stored.get(version, "")
    return VersionLine(
        version=version,
        here=plan is not None,
        workers=workers,
        open_runs=open_runs,
        plan_hash=kept or (plan.hash if plan else ""),
        other_plan=bool(plan and kept and plan.hash != kept),
        changed=changed_since_first_started(plan) if plan else (),
    )
