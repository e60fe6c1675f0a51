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
from runs.queries.queued import Queue, queue_before
from runs.queries.tried import Tried, tried_with
from runs.queries.verbs import Offer, offers_for, stands_with
from runs.queries.version_notes import VersionNotes, notes_of
from runs.queries.visibility import visible_runs
from runs.queries.went_on import WentOn, assignments_of, went_on
from runs.queries.why import Rows, crew, name_of, why_from
from runs.rules.limits import Deadline
from runs.rules.plan import Plan
from runs.rules.policy import Actor
from runs.rules.states import FINAL, AssignmentState, RunState, StepState, WaitState
from runs.rules.stretches import stretch_of
from runs.rules.why import Why

MOST_WENT_ON = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    done: int
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The first step that failed; a run that never began has only its name."""

    key: str
    ordinal: int
    error_class: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage:
    run: Run
    plan: Plan
    why: Why
    wait: Wait | None
    step: Step | None
    failed: Failed | None
    queue: Queue | None
    worker: str
    went_on: Sequence[WentOn]
    tried: Tried
    offers: Sequence[Offer]
    timeline: Timeline
    versions: VersionNotes
    breaches: Sequence[Breached]
    deadline: Deadline | None

    @property
    def error(self) -> str:
        """What the step at which it failed has said, where the sentence does not say it."""
        said = self.failed.error if self.failed else ""
        return "" if said in self.why.sentence else said

    @property
    def went_on_lately(self) -> Sequence[WentOn]:
        return self.went_on[-MOST_WENT_ON:]

    @property
    def went_on_earlier(self) -> Sequence[WentOn]:
        return self.went_on[:-MOST_WENT_ON]

    @property
    def went_on_unread(self) -> int:
        """How many of the earliest times are told by the events alone."""
        return max(self.run.fence - 1 - len(self.went_on), 0)

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
            ("runs:label", "Label…"),
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


def run_page(run: Run, *, now: datetime, begins: int | None = None) -> RunPage:
    """Everything above the tabs; of a long plan the steps from `begins` on, or where it stands."""
    steps = list(Step.objects.filter(run=run).order_by("ordinal", "generation"))
    waits = list(Wait.objects.filter(run=run).order_by("opened_at"))
    assignments = assignments_of(run)
    plan, queue = plan_by_hash(run.plan_id), _queue(run, assignments)
    rows = _rows(run, steps, waits, assignments, ahead=queue.ahead if queue else 0)
    failed = _first_failed(run, steps)
    material = Material(
        plan=plan,
        steps=steps,
        attempts=attempts_of(run, assignments=assignments),
        waits=waits,
        assignments=assignments,
        now=now,
        stretch=stretch_of(
            len(plan.steps),
            around=failed.ordinal if failed else run.step_ordinal,
            asked=begins,
        ),
        replays=list(Replay.objects.filter(run=run)) if run.generation > 1 else (),
    )
    return RunPage(
        run=run,
        plan=plan,
        why=why_from(rows),
        wait=rows.wait,
        step=rows.step,
        failed=failed,
        queue=queue,
        worker=_worker(rows.assignment) if run.state == RunState.RUNNING else "",
        went_on=went_on(run, assignments),
        tried=tried_with(run.pk, steps=steps, waits=waits),
        offers=offers_for(stands_with(run, rows.wait)),
        timeline=timeline_of(material),
        versions=notes_of(run),
        breaches=breaches_of(run.pk),
        deadline=None if RunState(run.state) in FINAL else deadline_of_run(run),
    )


def _rows(
    run: Run,
    steps: Sequence[Step],
    waits: Sequence[Wait],
    assignments: Sequence[Assignment],
    *,
    ahead: int,
) -> Rows:
    return Rows(
        run=run,
        step=next((s for s in steps if s.key == run.step and not s.superseded), None),
        wait=next((wait for wait in waits if wait.state == WaitState.OPEN), None),
        assignment=assignments[-1] if assignments else None,
        ahead=ahead,
        **(crew() if run.state == RunState.QUEUED else {"workers_alive": 0}),
    )


def _first_failed(run: Run, steps: Sequence[Step]) -> Failed | None:
    """Where a failed run is opened; nothing of one that has gone on since."""
    if run.state != RunState.FAILED:
        return None
    current = [step for step in steps if not step.superseded]
    stopped = [step for step in current if step.state == StepState.FAILED]
    stopped += [step for step in current if step.key == run.step]
    if not stopped:
        return Failed(key=run.step, ordinal=run.step_ordinal)
    first = stopped[0]
    return Failed(
        key=first.key, ordinal=first.ordinal, error_class=first.error_class, error=first.error
    )


def _queue(run: Run, assignments: Sequence[Assignment]) -> Queue | None:
    last = assignments[-1] if assignments and run.state == RunState.QUEUED else None
    return queue_before(last) if last and last.state == AssignmentState.PLACED else None


def _worker(assignment: Assignment | None) -> str:
    return name_of(assignment.worker) if assignment else ""
