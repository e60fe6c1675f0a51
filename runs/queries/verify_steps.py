"""Whether each step has one result, in the plan's order, kept as it was accepted (I1, I2, I9)."""

from collections import Counter
from collections.abc import Iterator

from runs.models import Checkpoint, Replay, Step
from runs.queries.verify_subject import Subject, is_digest_of, read
from runs.rules.states import RunState, StepState
from runs.rules.violations import Violation

# Which states the step that a run stands at may be in.
STANDS_AT: dict[RunState, frozenset[StepState]] = {
    RunState.QUEUED: frozenset({StepState.PENDING, StepState.WAITING}),
    RunState.RUNNING: frozenset({StepState.RUNNING}),
    RunState.WAITING: frozenset({StepState.WAITING}),
    RunState.PAUSED: frozenset({StepState.PENDING, StepState.WAITING}),
    RunState.FAILED: frozenset({StepState.FAILED}),
    RunState.SUCCEEDED: frozenset({StepState.SUCCEEDED}),
    RunState.CANCELLED: frozenset({StepState.SKIPPED, StepState.FAILED}),
    RunState.SUPERSEDED: frozenset(StepState),
}


def one_result_each(subject: Subject) -> Iterator[Violation]:
    """A step and generation has one row; one row of a step is current, or it is to be redone."""
    rows = Counter((step.key, step.generation) for step in subject.steps)
    for (key, generation), amount in rows.items():
        if amount > 1:
            yield subject.violates(
                "I1", f"Step {key} has {amount} results in generation {generation}."
            )
    current = Counter(step.key for step in subject.current)
    stands_at = max((step.ordinal for step in subject.current), default=0)
    for key in {step.key for step in subject.steps}:
        planned = subject.planned(key)
        to_be_redone = current[key] == 0 and (planned is None or planned.ordinal > stands_at)
        if current[key] != 1 and not to_be_redone:
            yield subject.violates("I1", f"Step {key} has {current[key]} current results, not one.")
    yield from _generations(subject)


def _generations(subject: Subject) -> Iterator[Violation]:
    """Each generation after the first was begun by one recorded replay."""
    recorded = list(
        Replay.objects.filter(run=subject.run)
        .order_by("generation")
        .values_list("generation", flat=True)
    )
    if recorded != list(range(2, subject.run.generation + 1)):
        yield subject.violates(
            "I1", f"It is in generation {subject.run.generation}; replays began {recorded}."
        )
    newest = max((step.generation for step in subject.steps), default=1)
    if newest > subject.run.generation:
        yield subject.violates("I1", f"A step has the generation {newest}, which never began.")


def results_are_kept(subject: Subject) -> Iterator[Violation]:
    """A finished step was finished once, and its facts are those it was finished with."""
    finished = Counter(
        Checkpoint.objects.filter(run=subject.run, finished=True).values_list("step", "generation")
    )
    for step in subject.steps:
        done = step.state == StepState.SUCCEEDED
        amount = finished[step.key, step.generation]
        if amount != int(done):
            yield subject.violates(
                "I2", f"Step {step.key} is {step.state} and has {amount} finishing checkpoints."
            )
        if done:
            yield from _facts(subject, step)


def _facts(subject: Subject, step: Step) -> Iterator[Violation]:
    if not is_digest_of(step.facts, step.facts_digest):
        yield subject.violates(
            "I1", f"The facts of step {step.key} are not what their digest covers."
        )
    planned, facts = subject.ever_planned(step.key), read(step.facts)
    names = sorted(facts) if isinstance(facts, dict) else None
    if planned and names not in [sorted(each.writes) for each in planned]:
        said = sorted(planned[-1].writes)
        yield subject.violates("I1", f"Step {step.key} wrote {names}, and its plan says {said}.")


def order_is_the_plans(subject: Subject) -> Iterator[Violation]:
    """The steps that have begun are the first ones of the plan, all but the last one finished."""
    run, plan = subject.run, subject.plan
    if (run.workflow, run.version, run.steps_total) != (plan.name, plan.version, len(plan.steps)):
        yield subject.violates(
            "I9", f"The run says {run.workflow} version {run.version}, its plan another workflow."
        )
    for step in subject.steps:
        planned = subject.ever_planned(step.key) if step.superseded else []
        planned = planned or [each for each in subject.plan.steps if each.key == step.key]
        if (step.scope, step.ordinal) not in [(each.scope, each.ordinal) for each in planned]:
            yield subject.violates("I9", f"Step {step.key} is not in its run's plan at this place.")
    ordinals = sorted({step.ordinal for step in subject.current})
    if ordinals != list(range(1, len(ordinals) + 1)):
        yield subject.violates("I2", f"The steps begun are {ordinals}: one was passed over.")
    yield from _where_it_stands(subject)


def _where_it_stands(subject: Subject) -> Iterator[Violation]:
    last = max(subject.current, key=lambda step: step.ordinal, default=None)
    if last is None or last.key != subject.run.step:
        yield subject.violates("I2", f"The run stands at {subject.run.step}, which has not begun.")
        return
    for step in subject.current:
        if step is not last and not _is_over(subject, step):
            yield subject.violates(
                "I2", f"Step {step.key} is {step.state}, and a later one has begun."
            )
    if StepState(last.state) not in _allowed(subject):
        yield subject.violates(
            "I11", f"The run is {subject.state.value} and stands at a {last.state} step {last.key}."
        )
    if subject.state is RunState.SUCCEEDED and last.ordinal != len(subject.plan.steps):
        yield subject.violates(
            "I2", f"It succeeded after {last.ordinal} of {len(subject.plan.steps)} steps."
        )


def _is_over(subject: Subject, step: Step) -> bool:
    """Finished, or passed over by a person where its plan allows that."""
    planned = subject.planned(step.key)
    skipped = step.state == StepState.SKIPPED and planned is not None and planned.may_skip
    return step.state == StepState.SUCCEEDED or skipped


def _allowed(subject: Subject) -> frozenset[StepState]:
    run, allowed = subject.run, STANDS_AT[subject.state]
    if run.cancel_requested or run.pause_requested:
        # The next step is kept from starting a moment before the holder makes the move (R17).
        return allowed | {StepState.PENDING}
    return allowed


def input_is_kept(subject: Subject) -> Iterator[Violation]:
    """What a run was started with is what its start key was given for."""
    if not is_digest_of(subject.run.input, subject.run.input_digest):
        yield subject.violates("I5", "The run's input is not what its digest covers.")
