"""The workflows this installation knows: by their code here, or by the plans of past runs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import DateTimeField, OuterRef, QuerySet, Subquery

from runs.definition import registry
from runs.definition.registry import UnknownWorkflow
from runs.models import Plan as StoredPlan
from runs.models import Run
from runs.queries.drills import why_no_drill
from runs.queries.plans import plan_by_hash
from runs.queries.version_notes import VersionLine, version_lines
from runs.queries.visibility import visible_runs
from runs.rules.declarations import Problem
from runs.rules.durations import Durations, durations_of
from runs.rules.inputs import Field
from runs.rules.plan import BrokenWorkflow, Plan, plan_of
from runs.rules.policy import Actor
from runs.rules.states import RunState

RUNS_SHOWN = 5
# The newest ones of any state, so that looking for those that succeeded has an end.
RUNS_MEASURED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowLine:
    """One workflow of the list. `here` is False when only its past runs know it."""

    name: str
    version: int
    doc: str
    steps: int
    here: bool
    last: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowPage:
    """One version of a workflow. `startable` is the version that Start starts, if its code is here.

    `no_drill` says why it cannot be drilled as it is.
    """

    name: str
    version: int
    versions: Sequence[int]
    plan: Plan | None
    problems: Sequence[Problem]
    startable: bool
    no_drill: str
    fields: Sequence[Field]
    recent: Sequence[Run]
    took: Durations | None
    lines: Sequence[VersionLine]


def workflow_lines(actor: Actor) -> list[WorkflowLine]:
    lines = {line.name: line for line in [*_stored_lines(), *_registered_lines()]}
    newest = visible_runs(actor).filter(workflow=OuterRef("workflow")).order_by("-created_at")
    last = dict(
        StoredPlan.objects.annotate(
            last=Subquery(newest.values("created_at")[:1], output_field=DateTimeField())
        ).values_list("workflow", "last")
    )
    return [replace(line, last=last.get(name)) for name, line in sorted(lines.items())]


def _registered_lines() -> list[WorkflowLine]:
    """Version after version, so that the highest one stays."""
    return [
        WorkflowLine(
            name=cls.name,
            version=cls.version,
            doc=(cls.__doc__ or "").strip().partition("\n")[0],
            steps=len(cls.steps),
            here=True,
        )
        for cls in registry.all_workflows()
    ]


def _stored_lines() -> list[WorkflowLine]:
    return [
        WorkflowLine(
            name=stored.workflow,
            version=stored.version,
            doc=(plan := plan_by_hash(stored.hash)).doc.partition("\n")[0],
            steps=len(plan.steps),
            here=False,
        )
        for stored in StoredPlan.objects.order_by("workflow", "version").defer("body")
    ]


def workflow_page(actor: Actor, name: str, version: int | None) -> WorkflowPage | None:
    """The page of one version, by default the highest known; None when nobody knows the name."""
    registered = {cls.version: cls for cls in registry.all_workflows() if cls.name == name}
    stored = dict(StoredPlan.objects.filter(workflow=name).values_list("version", "hash"))
    versions = sorted({*registered, *stored}, reverse=True)
    chosen = version if version is not None else next(iter(versions), None)
    if chosen not in versions:
        return None
    plan, problems = _plan(name, chosen, stored.get(chosen))
    startable = plan is not None and bool(registered) and chosen == max(registered)
    recent = visible_runs(actor).filter(workflow=name).order_by("-created_at", "-pk")
    return WorkflowPage(
        name=name,
        version=chosen,
        versions=versions,
        plan=plan,
        problems=problems,
        startable=startable,
        no_drill=why_no_drill(registered[chosen]) if startable else "",
        fields=plan.input_fields if plan and startable else (),
        recent=list(recent[:RUNS_SHOWN]),
        took=_took(recent),
        lines=version_lines(actor, name, versions=versions, stored=stored),
    )


def _took(recent: QuerySet[Run]) -> Durations | None:
    """From start to end, waiting included, of those among the newest that succeeded."""
    times = recent.values_list("state", "started_at", "ended_at")[:RUNS_MEASURED]
    ended = [
        ended_at - started_at
        for state, started_at, ended_at in times
        if state == RunState.SUCCEEDED.value and started_at and ended_at
    ]
    return durations_of(ended[::-1])


def _plan(
    name: str, version: int, stored_hash: str | None
) -> tuple[Plan | None, Sequence[Problem]]:
    """The plan as this process's code has it, else as it was stored with a run."""
    try:
        return plan_of(registry.get(name, version)), ()
    except BrokenWorkflow as broken:
        return None, broken.problems
    except UnknownWorkflow:
        return (plan_by_hash(stored_hash) if stored_hash else None), ()
