"""A run's timeline: for each step of its plan the bars, waits and gaps that are drawn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from runs.models import Assignment, Replay, Step, Wait
from runs.queries.pages_attempts import Attempt, by_step
from runs.rules.looks import Family
from runs.rules.plan import Plan, PlanStep
from runs.rules.states import AssignmentState, StepState, WaitKind
from runs.rules.stretches import Stretch
from runs.rules.timescale import Gap, Interval, Timescale, scale_of
from runs.rules.words import of, span

THINNEST = 0.6
FAMILIES: dict[str, Family] = {
    "succeeded": "ok",
    "running": "active",
    "failed": "failed",
    "lost": "failed",
    "waiting": "ok",
    "handed back": "ok",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A drawn stretch, in percent; `kind` is attempt, kept, superseded, wait or queue."""

    x: float
    width: float
    kind: str
    family: Family
    title: str

    @property
    def end(self) -> float:
        return round(self.x + self.width, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One step: how it stands, its bars, and what is worth saying about it at the end."""

    step: PlanStep
    state: str
    kind: str
    bars: Sequence[Bar]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    at: float
    time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    lines: Sequence[Line]
    gaps: Sequence[Gap]
    marks: Sequence[Mark]
    stretch: Stretch


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Everything that is drawn, already read."""

    plan: Plan
    steps: Sequence[Step]
    attempts: Sequence[Attempt]
    waits: Sequence[Wait]
    assignments: Sequence[Assignment]
    now: datetime
    stretch: Stretch
    replays: Sequence[Replay] = ()


def timeline_of(material: Material) -> Timeline:
    scale = scale_of(_busy(material))
    attempts = by_step(material.attempts)
    current = {step.key: step for step in material.steps if not step.superseded}
    kept_below = _kept_below(material.assignments)
    lines = [
        _line(
            step,
            current.get(step.key),
            [
                *_queue_bars(step, material.assignments, scale, now=material.now),
                *_wait_bars(step, material.waits, scale, now=material.now),
                *_attempt_bars(
                    attempts.get(step.key, []),
                    scale,
                    Fates(step=step, kept_below=kept_below, replays=material.replays),
                    now=material.now,
                ),
            ],
            attempts.get(step.key, []),
            [wait for wait in material.waits if wait.step == step.key],
            now=material.now,
        )
        for step in material.plan.steps
        if material.stretch.holds(step.ordinal)
    ]
    return Timeline(lines=lines, gaps=scale.gaps, marks=_marks(scale), stretch=material.stretch)


def _busy(material: Material) -> Iterable[Interval]:
    """What is drawn to scale: work and queueing, never waiting."""
    for attempt in material.attempts:
        yield Interval(start=attempt.started_at, end=attempt.ended_at or material.now)
    for one in material.assignments:
        if one.state == AssignmentState.PLACED:
            yield Interval(start=one.placed_at, end=material.now)
        elif one.claimed_at and one.claimed_at > one.placed_at:
            yield Interval(start=one.placed_at, end=one.claimed_at)
    for wait in material.waits:
        if wait.closed_at is None:
            yield Interval(start=material.now, end=material.now)


def _kept_below(assignments: Sequence[Assignment]) -> int:
    """The first fence after the last lost worker: what is older was kept, not done again."""
    lost = [one.fence for one in assignments if one.state == AssignmentState.LOST and one.fence]
    return max(lost) + 1 if lost else 0


def _bar(
    scale: Timescale, start: datetime, end: datetime, *, kind: str, family: Family, title: str
) -> Bar:
    left, right = scale.x(start), scale.x(max(start, end))
    width = max(right - left, THINNEST)
    left = min(left, 100 - width)
    return Bar(x=round(left, 3), width=round(width, 3), kind=kind, family=family, title=title)


def _queue_bars(
    step: PlanStep, assignments: Sequence[Assignment], scale: Timescale, *, now: datetime
) -> Iterable[Bar]:
    for one in assignments:
        end = one.claimed_at or (now if one.state == AssignmentState.PLACED else None)
        if one.from_step == step.key and end and end - one.placed_at > timedelta(seconds=0.05):
            title = f"queued {span(end - one.placed_at)}: {one.reason}"
            yield _bar(scale, one.placed_at, end, kind="queue", family="idle", title=title)


def _wait_bars(
    step: PlanStep, waits: Sequence[Wait], scale: Timescale, *, now: datetime
) -> Iterable[Bar]:
    for wait in waits:
        if wait.step == step.key:
            end = wait.closed_at or now
            asks = wait.kind == WaitKind.DECISION
            title = f"waited {span(end - wait.opened_at)}: {wait.kind} {wait.name}"
            family: Family = "decide" if asks else "waiting"
            yield _bar(scale, wait.opened_at, end, kind="wait", family=family, title=title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fates:
    """What takeovers and replays have made of a step's attempts since."""

    step: PlanStep
    kept_below: int
    replays: Sequence[Replay]

    def of(self, one: Attempt) -> str:
        later = [replay for replay in self.replays if replay.at > one.started_at]
        if any(replay.ordinal <= self.step.ordinal for replay in later):
            return "superseded"
        kept = one.outcome == "succeeded" and (one.fence < self.kept_below or bool(later))
        return "kept" if kept else "attempt"


def _attempt_bars(
    attempts: Sequence[Attempt], scale: Timescale, fates: Fates, *, now: datetime
) -> Iterable[Bar]:
    for one in attempts:
        end, kind = one.ended_at or now, fates.of(one)
        since = ", superseded by a replay" if kind == "superseded" else ""
        yield _bar(
            scale,
            one.started_at,
            end,
            kind=kind,
            family=FAMILIES.get(one.outcome, "idle"),
            title=f"attempt {one.number}: {one.outcome}, {span(end - one.started_at)}{since}",
        )


def _line(
    declared: PlanStep,
    step: Step | None,
    bars: list[Bar],
    attempts: Sequence[Attempt],
    waits: Sequence[Wait],
    *,
    now: datetime,
) -> Line:
    open_wait = next((wait for wait in waits if wait.closed_at is None), None)
    state = step.state if step else StepState.PENDING.value
    waiting = open_wait is not None and state == StepState.WAITING
    return Line(
        step=declared,
        state=state,
        kind=open_wait.kind if open_wait and waiting else "",
        bars=bars,
        note=_note(step, attempts, open_wait if waiting else None, now=now),
    )


def _note(
    step: Step | None, attempts: Sequence[Attempt], wait: Wait | None, *, now: datetime
) -> str:
    if step is None:
        return "not reached"
    if wait is not None:
        return f"waits {span(now - wait.opened_at)}"
    if step.state == StepState.SKIPPED:
        return "skipped"
    took = sum((one.took or timedelta() for one in attempts), timedelta())
    tried = f"{of(len(attempts), 'attempt')} · " if len(attempts) > 1 else ""
    return f"{tried}{span(took)}" if took else tried.removesuffix(" · ")


def _marks(scale: Timescale) -> list[Mark]:
    """The times printed on the axis: the start, where it goes on after a gap, and the end."""
    if not scale.pieces:
        return []
    wanted = [Mark(at=0.0, time=scale.pieces[0].start)]
    for piece in scale.pieces:
        if not piece.folded and piece.left - wanted[-1].at > 14:
            wanted.append(Mark(at=round(piece.left, 3), time=piece.start))
    return wanted
