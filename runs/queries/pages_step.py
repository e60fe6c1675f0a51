"""The audit of one step: verdict, attempts, effects, checkpoint, policy, facts, log."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from runs.models import Assignment, Call, Checkpoint, LogLine, Run, Step, Wait
from runs.queries.pages_attempts import Attempt, attempts_of
from runs.queries.plans import plan_by_hash
from runs.queries.why import question_of
from runs.rules.payloads import Payload, payload_of
from runs.rules.plan import Plan, PlanStep
from runs.rules.states import FINAL, CallState, RunState, StepState, WaitState
from runs.rules.undoing import may_be_undone
from runs.rules.words import of

CALLS_SHOWN = 20
CHECKPOINTS_SHOWN = 10
LINES_SHOWN = 200
LOUD = ("warning", "error", "critical")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallShown:
    call: Call
    request: Payload
    answer: Payload | None
    may_be_undone: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPage:
    run: Run
    declared: PlanStep
    step: Step | None
    wait: Wait | None
    verdict: str
    attempts: Sequence[Attempt]
    calls: Sequence[CallShown]
    calls_total: int
    checkpoints: Sequence[Checkpoint]
    read: Payload
    written: Payload
    lines: Sequence[LogLine]
    before: str
    after: str


def step_page(run: Run, key: str, *, visible: bool) -> StepPage | None:
    """Everything about one step of a run; None when its plan has no such step."""
    plan = plan_by_hash(run.plan_id)
    declared = next((one for one in plan.steps if one.key == key), None)
    if declared is None:
        return None
    step = Step.objects.filter(run=run, key=key, superseded=False).first()
    wait = Wait.objects.filter(run=run, step=key, state=WaitState.OPEN.value).first()
    before = next((one.key for one in plan.steps if one.ordinal == declared.ordinal - 1), "")
    states = _call_states(run, key)
    attempts = _attempts(run, key)
    return StepPage(
        run=run,
        declared=declared,
        step=step,
        wait=wait,
        verdict=_verdict(declared, step, wait, attempts, states) if step else _needs(before),
        attempts=attempts,
        calls=_calls(run, declared, plan, visible=visible),
        calls_total=sum(states.values()),
        checkpoints=list(
            Checkpoint.objects.filter(run=run, step=key).order_by("-number")[:CHECKPOINTS_SHOWN]
        ),
        read=payload_of(facts_read(run, declared), visible=visible, paths=plan.redact),
        written=_written(step, plan, visible=visible),
        lines=_lines(run, key),
        before=before,
        after=next((one.key for one in plan.steps if one.ordinal == declared.ordinal + 1), ""),
    )


def _attempts(run: Run, key: str) -> list[Attempt]:
    assignments = Assignment.objects.filter(run=run).select_related("worker")
    return [one for one in attempts_of(run, assignments=assignments) if one.step == key]


def _call_states(run: Run, key: str) -> dict[str, int]:
    rows = Call.objects.filter(run=run, step=key).order_by().values_list("state")
    return dict(rows.annotate(amount=Count("pk")))


def _calls(run: Run, declared: PlanStep, plan: Plan, *, visible: bool) -> list[CallShown]:
    rows = Call.objects.filter(run=run, step=declared.key).order_by("-pk")[:CALLS_SHOWN]
    undoable = {each.name for each in declared.effects if each.compensated}
    final = RunState(run.state) in FINAL
    return [
        _call(
            call,
            plan.hidden_in(call.effect),
            visible=visible,
            may_be_undone=call.effect in undoable and not final and may_be_undone(call),
        )
        for call in rows
    ]


def _call(call: Call, paths: Sequence[str], *, visible: bool, may_be_undone: bool) -> CallShown:
    request = payload_of(call.request, visible=visible, digest=call.request_digest, paths=paths)
    answer = None
    if call.answer is not None:
        answer = payload_of(call.answer, visible=visible, digest=call.answer_digest, paths=paths)
    return CallShown(call=call, request=request, answer=answer, may_be_undone=may_be_undone)


def facts_read(run: Run, declared: PlanStep) -> str:
    """What the step's declared reads hold, from the input and from earlier steps, as JSON."""
    facts: dict[str, Any] = json.loads(run.input)
    earlier = Step.objects.filter(run=run, superseded=False, ordinal__lt=declared.ordinal)
    for text in earlier.order_by("ordinal").values_list("facts", flat=True):
        facts.update(json.loads(text))
    return json.dumps({name: facts[name] for name in declared.reads if name in facts})


def _written(step: Step | None, plan: Plan, *, visible: bool) -> Payload:
    if step is None:
        return payload_of("{}", visible=True)
    return payload_of(step.facts, visible=visible, digest=step.facts_digest, paths=plan.redact)


def _lines(run: Run, key: str) -> list[LogLine]:
    """The newest lines, the loud ones first."""
    newest = LogLine.objects.filter(run=run, step=key).order_by("-pk")[:LINES_SHOWN]
    return sorted(newest, key=lambda line: (line.level.lower() not in LOUD, -line.pk))


def _needs(before: str) -> str:
    return f"Not reached yet; needs step {before}." if before else "Not reached yet."


def _verdict(
    declared: PlanStep,
    step: Step,
    wait: Wait | None,
    attempts: Sequence[Attempt],
    calls: dict[str, int],
) -> str:
    said = [_how(step, wait, len(attempts))]
    said += [f"{of(amount, 'call')} {state}." for state, amount in sorted(calls.items())]
    if not calls and declared.effects and step.state == StepState.SUCCEEDED:
        said.append("No call was made.")
    if calls.get(CallState.AMBIGUOUS):
        said.append("Nobody knows whether the ambiguous ones happened.")
    return " ".join(said)


def _how(step: Step, wait: Wait | None, entered: int) -> str:
    times = "once" if entered == 1 else f"{entered} times"
    match StepState(step.state):
        case StepState.SUCCEEDED:
            return (
                "Executed once." if entered == 1 else f"Entered {times}; one result was accepted."
            )
        case StepState.RUNNING:
            return f"Executing, attempt {step.attempt}."
        case StepState.WAITING if wait is not None:
            return f"Waits: {question_of(wait)}"
        case StepState.FAILED:
            return f"Failed after {of(max(entered, 1), 'attempt')}: {step.error}"
        case StepState.SKIPPED:
            return "Skipped: the run ended before it."
        case _:
            return (
                "Queued; a free worker enters it." if not entered else f"Entered {times}, not done."
            )


def whole_facts(run: Run, key: str, *, which: str) -> str | None:
    """All that a step read, or wrote; None when there is no such step."""
    declared = next((one for one in plan_by_hash(run.plan_id).steps if one.key == key), None)
    if declared is None:
        return None
    if which == "read":
        return facts_read(run, declared)
    step = Step.objects.filter(run=run, key=key, superseded=False).first()
    return step.facts if step else None
