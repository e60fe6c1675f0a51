"""What a step's body does that its declaration does not say, and the other way round."""

from collections.abc import Iterator

from runs.definition.approvals import Approval
from runs.definition.step import StepDeclaration
from runs.definition.workflow import Workflow
from runs.rules.bodies import Reading, Use, read_body
from runs.rules.problem import Problem, nearest, problem

OUTSIDE_TRANSACTIONS = ("call", "judge", "ask", "wait_for", "sleep", "apply", "checkpoint")
NAMED_ONCE = ("ask", "sleep")


def body_problems(cls: type[Workflow]) -> Iterator[Problem]:
    """Everything that the bodies of a workflow's steps show to be wrong."""
    readings = {step.key: read_body(step.body, owner=cls) for step in cls.steps}
    for step in cls.steps:
        subject, reading = f"{cls.__name__}.{step.key}", readings[step.key]
        yield from _undeclared_facts(subject, step, reading)
        yield from _undeclared_effects(subject, step, reading)
        yield from _calls_past_the_approval(subject, step, reading)
        yield from _inside_transactions(subject, step, reading)
        yield from _repeated_names(subject, reading)
        yield from _thrown_away(subject, reading)
        yield from _unused(subject, step, reading)
    yield from _plans_nobody_may_apply(cls, readings)
    yield from _approvals_of_no_plan(cls, readings)


def _undeclared_facts(subject: str, step: StepDeclaration, reading: Reading) -> Iterator[Problem]:
    for use in reading.of("read", "apply"):
        if use.name and use.name not in step.reads:
            yield _undeclared(subject, use, "reads", step.reads)
    for use in reading.of("write", "plan"):
        if use.name and use.name not in step.writes:
            yield _undeclared(subject, use, "writes", step.writes)


def _undeclared(subject: str, use: Use, where: str, declared: tuple[str, ...]) -> Problem:
    return problem(
        "E012",
        f"{subject} calls run.{use.verb}({use.name!r}) but does not declare it.",
        hint=f"Add {use.name!r} to {where}=[...] of its @step. {nearest(use.name or '', declared)}",
        place=use.place,
    )


def _undeclared_effects(subject: str, step: StepDeclaration, reading: Reading) -> Iterator[Problem]:
    for use in reading.of("call"):
        if use.effect is not None and use.effect not in step.effects:
            yield problem(
                "E012",
                f"{subject} calls the effect {use.effect.name!r} but does not declare it.",
                hint="Add it to effects=[...] of its @step, so that the plan shows what may be changed.",
                place=use.place,
            )


def _calls_past_the_approval(
    subject: str, step: StepDeclaration, reading: Reading
) -> Iterator[Problem]:
    if not isinstance(step.approval, Approval):
        return
    for use in reading.of("call"):
        if use.effect in step.effects and use.effect is not None and use.effect.irreversible:
            yield problem(
                "W001",
                f"{subject} calls {use.effect.name!r} directly, which its approval of "
                f"{step.approval.of!r} does not cover: each such call will ask a person.",
                hint="Plan it in the step before with run.plan(...), and make it with "
                f"run.apply({step.approval.of!r}).",
                place=use.place,
            )


def _inside_transactions(
    subject: str, step: StepDeclaration, reading: Reading
) -> Iterator[Problem]:
    for use in reading.of(*OUTSIDE_TRANSACTIONS):
        if use.in_transaction or step.transactional:
            yield problem(
                "E013",
                f"{subject} calls run.{use.verb} inside a transaction.",
                hint="Nothing may leave, or wait, inside a transaction: do it before `with run.checkpoint(...)` "
                "or `atomic`, or in a step that is not transactional.",
                place=use.place,
            )


def _repeated_names(subject: str, reading: Reading) -> Iterator[Problem]:
    seen: dict[tuple[str, str], int] = {}
    for use in reading.of(*NAMED_ONCE):
        if use.name and (use.verb, use.name) in seen:
            yield problem(
                "W010",
                f"{subject} names a second run.{use.verb} {use.name!r} (first in line {seen[use.verb, use.name]}).",
                hint="Give each its own name: by its name a body that is entered again finds its answer.",
                place=use.place,
            )
        elif use.name:
            seen[use.verb, use.name] = use.place.line


def _thrown_away(subject: str, reading: Reading) -> Iterator[Problem]:
    for place in reading.returns:
        yield problem(
            "E019",
            f"{subject} returns a value, which nobody would see.",
            hint="Keep it with run.write(name, value), and declare the name in writes=[...].",
            place=place,
        )


def _unused(subject: str, step: StepDeclaration, reading: Reading) -> Iterator[Problem]:
    if not reading.whole:
        return
    for where, verbs, declared in (
        ("reads", ("read", "apply"), () if reading.own_rows else step.reads),
        ("writes", ("write", "plan"), step.writes),
    ):
        used = {use.name for use in reading.of(*verbs)}
        for name in declared:
            if name not in used:
                yield problem(
                    "W009",
                    f"{subject} declares {where}=[{name!r}] but its body never does.",
                    hint=f"Use it, or take {name!r} out of {where}.",
                    place=step.place,
                )
    if step.effects and not any(reading.of("call", "apply")):
        yield problem(
            "W009",
            f"{subject} declares effects but its body makes no call.",
            hint="Make it with run.call(...) or run.apply(...), or take the effects out.",
            place=step.place,
        )


def _plans_nobody_may_apply(cls: type[Workflow], readings: dict[str, Reading]) -> Iterator[Problem]:
    for at, step in enumerate(cls.steps):
        for use in readings[step.key].of("plan"):
            appliers = [
                later for later in cls.steps[at + 1 :] if use.name in later.reads and later.effects
            ]
            if use.effect is None or not use.name:
                continue
            if not any(use.effect in later.effects for later in appliers):
                yield problem(
                    "E021",
                    f"{cls.__name__}.{step.key} plans calls of {use.effect.name!r} under {use.name!r}, "
                    "which no later step may make.",
                    hint=f"Declare reads=[{use.name!r}] and effects=[...] with this effect in the step that applies it.",
                    place=use.place,
                )


def _approvals_of_no_plan(cls: type[Workflow], readings: dict[str, Reading]) -> Iterator[Problem]:
    approved = {step.approval.of: step for step in cls.steps if isinstance(step.approval, Approval)}
    for step in cls.steps:
        for use in readings[step.key].of("write"):
            if use.name in approved:
                yield problem(
                    "E008",
                    f"{cls.__name__}.{step.key} writes {use.name!r}, but "
                    f"{cls.__name__}.{approved[use.name].key} asks approval of it as a plan.",
                    hint=f"Plan the calls instead: run.plan({use.name!r}, effect, resource=..., request=...).",
                    place=use.place,
                )
