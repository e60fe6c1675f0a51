"""Runs whose plan the present code may not have: which they are, and what they have come to."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from runs.definition.context import Cursor
from runs.models import Call, Checkpoint, PlannedCall, Run, Step, Wait, Worker
from runs.queries.plans import plan_by_hash
from runs.rules import canonical
from runs.rules.courses import Choice
from runs.rules.past import Done, Here, MadePlan, Past
from runs.rules.plan import Plan
from runs.rules.states import (
    FINAL,
    UNSETTLED_CALLS,
    RunState,
    StepState,
    WaitKind,
    WaitState,
    WorkerState,
)
from runs.rules.version_asks import KIND
from runs.rules.versions import Known, known_from, why_unknown

# What a body has been told by name; what the engine asks for itself is asked again.
ANSWERS = ("ask ", "event ", "sleep ")
NAME = f"{KIND} "


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A run as it was when it was looked at: `seq` tells whether it has moved since."""

    id: UUID
    seq: int


def known_by_workers() -> Known:
    """What the workers that live and take work can execute."""
    rows = Worker.objects.filter(state=WorkerState.LIVE.value, draining=False)
    return known_from(rows.values_list("plans", flat=True))


def why_nobody_takes(run: Run, known: Known) -> str:
    """Why no live worker takes this queued run; empty when one does, or none lives."""
    return why_unknown(known, workflow=run.workflow, version=run.version, plan_hash=run.plan_id)


def stranded(hashes: Collection[str]) -> list[Seen]:
    """Queued runs whose plan neither this code has nor any live worker, the oldest first."""
    rows = Run.objects.filter(state=RunState.QUEUED.value, assignments__state="placed")
    rows = rows.exclude(plan_id__in=list(hashes))
    if not rows.exists():
        return []
    rows = rows.exclude(plan_id__in=list(known_by_workers().hashes))
    found = rows.order_by("assignments__placed_at", "assignments__pk").values_list("pk", "seq")
    return [Seen(id=run_id, seq=seq) for run_id, seq in found]


def asking(hashes: Collection[str]) -> list[Seen]:
    """Runs that ask about a plan that this code has after all."""
    rows = Run.objects.filter(
        state=RunState.WAITING.value,
        plan_id__in=list(hashes),
        waits__state=WaitState.OPEN.value,
        waits__kind=WaitKind.DECISION.value,
        waits__name__startswith=NAME,
    )
    return [Seen(id=pk, seq=seq) for pk, seq in rows.order_by("pk").values_list("pk", "seq")]


# A release looks before its own migrations are applied: only columns that were always there.
RUN = ("seq", "workflow", "version", "plan", "reference", "state", "step", "checkpoint", "input")
STEP = ("key", "scope", "ordinal", "generation", "state", "facts", "cursor_ordinal", "cursor_token")


def open_runs() -> QuerySet[Run]:
    """Every run that can still need the code of its plan."""
    rows = Run.objects.exclude(state__in=[state.value for state in FINAL]).only(*RUN)
    return rows.order_by("created_at", "pk")


def past_of(run: Run) -> Past:
    """What a run has come to, as far as another plan has to know it."""
    plan, current = plan_by_hash(run.plan_id), Step.objects.filter(run=run, superseded=False)
    rows = list(current.only(*STEP).order_by("ordinal"))
    here = next(row for row in rows if row.key == run.step)
    made = Call.objects.filter(run=run).exclude(state__in=["refused", "abandoned"])
    calls = _keys(made)
    unknown = made.filter(state__in=sorted(UNSETTLED_CALLS), unsent=False, checkpoint=None)
    return Past(
        run_id=run.pk,
        seq=run.seq,
        workflow=run.workflow,
        version=run.version,
        plan=plan,
        state=run.state,
        schema=newest_schema(run),
        input=canonical.loads(run.input),
        done=_done(run, [row for row in rows if row is not here]),
        here=Here(
            key=here.key,
            scope=here.scope,
            ordinal=here.ordinal,
            cursor=Cursor(ordinal=here.cursor_ordinal, token=here.cursor_token),
            left=_left(run, here, len(calls.get(here.scope, ()))),
        ),
        calls=calls,
        plans=[*_plans(run, plan, rows), *_approved_alone(run, here)],
        unsettled=_keys(unknown),
    )


def newest_schema(run: Run) -> int:
    """The form in which the run's last checkpoint was written; 0 when it has none."""
    rows = Checkpoint.objects.filter(run=run, number=run.checkpoint)
    return rows.values_list("schema", flat=True).first() or 0


def _done(run: Run, rows: list[Step]) -> list[Done]:
    """What is over of these: finished, or skipped by a person."""
    numbers = _numbers(run)
    return [
        Done(
            key=row.key,
            scope=row.scope,
            ordinal=row.ordinal,
            facts=canonical.loads(row.facts),
            checkpoint=numbers.get((row.key, row.generation), 0),
            skipped=row.state == StepState.SKIPPED,
        )
        for row in rows
        if row.state in (StepState.SUCCEEDED, StepState.SKIPPED)
    ]


def _numbers(run: Run) -> Mapping[tuple[str, int], int]:
    rows = Checkpoint.objects.filter(run=run, finished=True)
    return {
        (key, made): number
        for key, made, number in rows.values_list("step", "generation", "number")
    }


def _keys(calls: QuerySet[Call]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for scope, key in calls.order_by("id").values_list("scope", "key"):
        found.setdefault(scope, []).append(key)
    return found


def _left(run: Run, here: Step, calls: int) -> str:
    """What the step in work leaves behind that a changed step could not know."""
    said = []
    if here.cursor_ordinal:
        said.append(f"come to {here.cursor_ordinal:,} of its pages")
    if calls:
        said.append("made calls")
    waits = Wait.objects.filter(
        run=run, step=here.key, generation=here.generation, state=WaitState.RESOLVED.value
    )
    if any(name.startswith(ANSWERS) for name in waits.values_list("name", flat=True)):
        said.append("been given answers")
    return "it has " + " and ".join(said) if said else ""


def _plans(run: Run, plan: Plan, rows: list[Step]) -> Iterator[MadePlan]:
    """Lists of calls that no finished step has applied."""
    done = {row.key for row in rows if row.state == StepState.SUCCEEDED}
    applied = {
        name for step in plan.steps if step.key in done and step.effects for name in step.reads
    }
    current = {(row.key, row.generation) for row in rows}
    effects: dict[str, set[str]] = {}
    made = PlannedCall.objects.filter(run=run).order_by()
    for name, step, generation, effect in made.values_list(
        "plan", "step", "generation", "effect"
    ).distinct():
        if (step, generation) in current and name not in applied:
            effects.setdefault(name, set()).add(effect)
    for name, named in sorted(effects.items()):
        yield MadePlan(name=name, effects=frozenset(named), approved=_approved(run, rows, name))


def _approved_alone(run: Run, here: Step) -> Iterator[MadePlan]:
    """Calls of the step in work that somebody allowed, and that have not left."""
    waits = Wait.objects.filter(
        run=run,
        step=here.key,
        generation=here.generation,
        state=WaitState.RESOLVED.value,
        name__startswith="call ",
    )
    left = Call.objects.filter(run=run, scope=here.scope, unsent=False)
    made = set(left.values_list("key", flat=True))
    for subject in waits.order_by("pk").values_list("subject", flat=True):
        call = canonical.loads(subject)["call"]
        if call["key"] not in made:
            named = f"{call['effect']} for {call['resource']}"
            effects = frozenset({call["effect"]})
            yield MadePlan(name=named, effects=effects, approved=True, is_list=False)


def _approved(run: Run, rows: list[Step], name: str) -> bool:
    here = {(row.key, row.generation) for row in rows}
    waits = Wait.objects.filter(
        run=run, state=WaitState.RESOLVED.value, name__startswith=f"approve {name} "
    )
    return any((wait.step, wait.generation) in here for wait in waits)


def choice_of(run: Run) -> Choice | None:
    """What a person answered last about the plan of this run."""
    waits = Wait.objects.filter(run=run, state=WaitState.RESOLVED.value, name__startswith=NAME)
    newest = waits.order_by("-closed_at", "-pk").values_list("subject", "answer", "closed_by")
    for subject, answer, by in newest[:1]:
        evidence = canonical.loads(subject)["evidence"]
        if answer is not None and evidence["from"]["plan"] == run.plan_id:
            option = canonical.loads(answer)["option"]
            return Choice(option=option, plan_hash=evidence["to"]["plan"], by=by)
    return None


def written_by_newer(schema: int) -> frozenset[UUID]:
    """Open runs with a checkpoint of a later form than this."""
    rows = Checkpoint.objects.filter(schema__gt=schema, run__in=open_runs().values("pk"))
    return frozenset(rows.values_list("run_id", flat=True).distinct())
