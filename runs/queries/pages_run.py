"""A run's page: how it stands, how it got there, and its timeline."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from runs.models import Assignment, Replay, Run, Step, Wait
from runs.queries.limits import Breached, breaches_of, deadline_of_run
from runs.queries.pages_attempts import attempts_of
from runs.queries.pages_timeline import Material, Timeline, timeline_of
from runs.queries.plans import plan_by_hash
from runs.queries.tried import Tried, tried_with
from runs.queries.verbs import Offer, offers_for, stands_with
from runs.queries.version_notes import VersionNotes, notes_of
from runs.queries.visibility import visible_runs
from runs.queries.went_on import WentOn, assignments_of, went_on
from runs.queries.why import Rows, crew, name_of, why_from
from runs.rules.limits import Deadline
from runs.rules.plan import Plan
from runs.rules.policy import Actor
from runs.rules.states import FINAL, RunState, WaitState
from runs.rules.why import Why

MOST_WENT_ON = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    done: int
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage:
    run: Run
    plan: Plan
    why: Why
    wait: Wait | None
    step: Step | None
    worker: str
    went_on: Sequence[WentOn]
    tried: Tried
    offers: Sequence[Offer]
    timeline: Timeline
    versions: VersionNotes
    breaches: Sequence[Breached]
    deadline: Deadline | None

    @property
    def nothing_more(self) -> str:
        """The one sentence, where it is the same that refuses every verb."""
        reasons = {offer.why_not for offer in self.offers}
        return reasons.pop() if len(reasons) == 1 else ""

    @property
    def further(self) -> Sequence[tuple[str, str]]:
        """Verbs whose own pages say whether they are possible."""
        return (
            ("runs:replay", "Replay from a checkpoint…"),
            ("runs:restart", "Restart as a new run…"),
        )

    @property
    def waits_for(self) -> str:
        return self.wait.kind if self.wait else ""

    @property
    def event_wait(self) -> Wait | None:
        """The event it waits for, which a person may deliver."""
        return self.wait if self.wait and self.wait.kind == "event" else None

    @property
    def progress(self) -> Progress:
        """How far the step in work has come, by its own word or by its cursor."""
        step = self.step if self.run.state == RunState.RUNNING else None
        if step is None or step.progress_done is None:
            return Progress(done=step.cursor_ordinal if step else 0)
        return Progress(done=step.progress_done, total=step.progress_total)

    @property
    def decision(self) -> Wait | None:
        return self.wait if self.wait and self.wait.kind == "decision" else None


def visible_run(actor: Actor, run_id: UUID) -> Run | None:
    return visible_runs(actor).select_related("worker").filter(pk=run_id).first()


def version_of(run: Run, *, now: datetime) -> str:
    """`seq` counts every recorded fact; a running run is looked at again every four seconds."""
    return f"{run.seq}" + (f"-{int(now.timestamp()) // 4}" if run.state == RunState.RUNNING else "")


def speed_of(run: Run) -> str:
    """How often an open page asks again; a final run never changes, so never."""
    if RunState(run.state) in FINAL:
        return ""
    return "fast" if run.state in (RunState.RUNNING, RunState.QUEUED) else "idle"


def run_page(run: Run, *, now: datetime) -> RunPage:
    """Everything above the tabs, in four queries."""
    steps = list(Step.objects.filter(run=run).order_by("ordinal", "generation"))
    waits = list(Wait.objects.filter(run=run).order_by("opened_at"))
    assignments = assignments_of(run)
    rows = _rows(run, steps, waits, assignments)
    material = Material(
        plan=plan_by_hash(run.plan_id),
        steps=steps,
        attempts=attempts_of(run, assignments=assignments),
        waits=waits,
        assignments=assignments,
        now=now,
        replays=list(Replay.objects.filter(run=run)) if run.generation > 1 else (),
    )
    return RunPage(
        run=run,
        plan=material.plan,
        why=why_from(rows),
        wait=rows.wait,
        step=rows.step,
        worker=_worker(rows.assignment) if run.state == RunState.RUNNING else "",
        went_on=went_on(run, assignments, most=MOST_WENT_ON),
        tried=tried_with(run.pk, steps=steps, waits=waits),
        offers=offers_for(stands_with(run, rows.wait)),
        timeline=timeline_of(material),
        versions=notes_of(run),
        breaches=breaches_of(run.pk),
        deadline=None if RunState(run.state) in FINAL else deadline_of_run(run),
    )


def _rows(
    run: Run, steps: Sequence[Step], waits: Sequence[Wait], assignments: Sequence[Assignment]
) -> Rows:
    return Rows(
        run=run,
        step=next((s for s in steps if s.key == run.step and not s.superseded), None),
        wait=next((wait for wait in waits if wait.state == WaitState.OPEN), None),
        assignment=assignments[-1] if assignments else None,
        **(crew() if run.state == RunState.QUEUED else {"workers_alive": 0}),
    )


def _worker(assignment: Assignment | None) -> str:
    return name_of(assignment.worker) if assignment else ""
