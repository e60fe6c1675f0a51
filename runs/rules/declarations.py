"""What is wrong with a workflow's declarations, found without running it."""

import inspect
import re
from collections.abc import Iterator
from datetime import timedelta

from runs.definition.places import Place
from runs.definition.step import StepDeclaration
from runs.definition.workflow import Heartbeat, Workflow
from runs.rules import inputs
from runs.rules.flow import flow_problems
from runs.rules.problem import Level, Problem, problem
from runs.rules.undeclared import body_problems

__all__ = ["Level", "Problem", "problems"]

NAME = re.compile(r"[a-z][a-z0-9_]*")
LONGEST_NAME = 63
OWN_WORDS = frozenset(name for name in vars(Workflow) if not name.startswith("__")) | {
    "name",
    "version",
    "place",
}


def problems(cls: type[Workflow], *, longest_step: timedelta | None = None) -> list[Problem]:
    """Everything wrong with a workflow, in the order of its file; `longest_step` is the queue's limit."""
    found = [
        *_about_the_workflow(cls),
        *_about_input(cls),
        *_about_names(cls),
        *_about_keys(cls),
        *flow_problems(cls),
        *(found for step in cls.steps for found in _about_a_step(cls, step, longest_step)),
        *body_problems(cls),
    ]
    return sorted(found, key=lambda item: (item.file, item.line, item.id))


def _about_the_workflow(cls: type[Workflow]) -> Iterator[Problem]:
    who = cls.__name__
    if not cls.steps:
        yield problem(
            "E002",
            f"{who} has no steps.",
            hint="Put @step(...) above its methods, in their order.",
            place=cls.place,
        )
    heartbeat: object = cls.heartbeat
    if heartbeat is not None and not isinstance(heartbeat, Heartbeat):
        yield problem(
            "E017",
            f"{who}: heartbeat is {heartbeat!r}.",
            hint="Write heartbeat = Heartbeat(every=..., grace=...), or leave it out.",
            place=cls.place,
        )
    if cls.deadline is None:
        return
    if not isinstance(cls.deadline, timedelta) or cls.deadline <= timedelta(0):
        yield problem(
            "E016",
            f"{who}: deadline is {cls.deadline!r}.",
            hint="Give a timedelta above zero: how long a run may take, waiting for people not counted.",
            place=cls.place,
        )
        return
    yield from _about_a_short_deadline(cls, cls.deadline)


def _about_a_short_deadline(cls: type[Workflow], deadline: timedelta) -> Iterator[Problem]:
    progress = cls.heartbeat.progress if isinstance(cls.heartbeat, Heartbeat) else None
    if progress and progress >= deadline:
        yield problem(
            "W007",
            f"{cls.__name__}: a run is called slow after {progress}, but its deadline is {deadline}.",
            hint="Raise the deadline, or lower heartbeat's progress.",
            place=cls.place,
        )
    for step in cls.steps:
        if step.timeout and step.timeout > deadline:
            yield problem(
                "W007",
                f"{cls.__name__}.{step.key} may take {step.timeout}, but the run's deadline is {deadline}.",
                hint="Raise the deadline, or lower the step's timeout.",
                place=step.place,
            )


def _about_input(cls: type[Workflow]) -> Iterator[Problem]:
    if cls.Input is None:
        return
    place = _place_of_input(cls)
    try:
        fields = inputs.fields_of(cls)
    except inputs.UnusableInput as error:
        yield problem("E018", f"{cls.__name__}.Input: {error}.", hint=error.hint, place=place)
        return
    read = {name for step in cls.steps for name in step.reads}
    for field in fields:
        if not _is_name(field.name):
            yield _bad_name(f"{cls.__name__}.Input", field.name, place)
        elif field.name not in read:
            yield problem(
                "W008",
                f"{cls.__name__}.Input asks for {field.name!r}, which no step reads.",
                hint=f"Add {field.name!r} to the reads of the step that needs it, or take it out of Input.",
                place=place,
            )


def _place_of_input(cls: type[Workflow]) -> Place:
    try:
        return Place(file=cls.place.file, line=inspect.getsourcelines(cls.Input)[1])  # type: ignore[arg-type]
    except (OSError, TypeError):
        return cls.place


def _about_names(cls: type[Workflow]) -> Iterator[Problem]:
    if not _is_name(cls.name):
        yield _bad_name(f"Workflow {cls.__name__}", cls.name, cls.place)
    for step in cls.steps:
        subject = f"{cls.__name__}.{step.key}"
        for name in dict.fromkeys([step.key, step.scope, *step.reads, *step.writes]):
            if not _is_name(name):
                yield _bad_name(subject, name, step.place)
        if step.key in OWN_WORDS:
            yield problem(
                "E010",
                f"{subject} takes a name that every workflow needs itself.",
                hint="Rename the step.",
                place=step.place,
            )


def _bad_name(subject: str, name: str, place: Place) -> Problem:
    return problem(
        "E004",
        f"{subject}: {name!r} is no name.",
        hint=f"Use lower-case letters, digits and underscores, beginning with a letter, at most {LONGEST_NAME} characters.",
        place=place,
    )


def _is_name(name: str) -> bool:
    return bool(NAME.fullmatch(name)) and len(name) <= LONGEST_NAME


def _about_keys(cls: type[Workflow]) -> Iterator[Problem]:
    for again in cls.repeated:
        yield problem(
            "E003",
            f"{cls.__name__} defines {again.key!r} twice (first in line {again.first.line}); Python keeps the last.",
            hint="Rename one of them; a step's key is its method's name.",
            place=again.second,
        )
    scopes: dict[str, StepDeclaration] = {}
    for step in sorted(cls.steps, key=lambda step: step.was is not None):
        other = scopes.setdefault(step.scope, step)
        if other is not step:
            yield problem(
                "E020",
                f"{cls.__name__}.{step.key} and {cls.__name__}.{other.key} both make their keys from {step.scope!r}.",
                hint="Correct was=: it names what this one step was called before.",
                place=step.place,
            )


def _about_a_step(
    cls: type[Workflow], step: StepDeclaration, longest: timedelta | None
) -> Iterator[Problem]:
    subject = f"{cls.__name__}.{step.key}"
    yield from _about_its_shape(subject, step)
    yield from _about_its_time(subject, step, longest)
    if step.side_effect:
        yield problem(
            "I001",
            f"{subject} is a side effect: it reads nothing and changes something.",
            hint="Nothing to do if it is meant; plan and pages mark it so.",
            place=step.place,
        )


def _about_its_shape(subject: str, step: StepDeclaration) -> Iterator[Problem]:
    if not step.reads and not step.writes and not step.effects:
        yield problem(
            "E005",
            f"{subject} is decoration: it declares neither reads, writes nor effects.",
            hint="Declare what it reads, writes or changes, or make it an ordinary method that a step calls.",
            place=step.place,
        )
    if inspect.iscoroutinefunction(step.body) or inspect.isasyncgenfunction(step.body):
        yield _shape(
            subject, step, "is async", "Write `def`; a step waits by parking, not by awaiting."
        )
    elif inspect.isgeneratorfunction(step.body):
        yield _shape(
            subject, step, "yields, so its body would never run", "Take `yield` out of the body."
        )
    if not _takes_the_run(step):
        yield _shape(
            subject,
            step,
            "does not take exactly (self, run)",
            f"Write `def {step.key}(self, run)`.",
        )
    if step.transactional and step.effects:
        yield problem(
            "E014",
            f"{subject} is transactional and has effects.",
            hint="Nothing leaves inside a transaction; make the calls in a step of their own.",
            place=step.place,
        )


def _shape(subject: str, step: StepDeclaration, what: str, hint: str) -> Problem:
    return problem("E009", f"{subject} {what}.", hint=hint, place=step.place)


def _takes_the_run(step: StepDeclaration) -> bool:
    try:
        inspect.signature(step.body).bind("self", "run")
    except TypeError:
        return False
    return True


def _about_its_time(
    subject: str, step: StepDeclaration, longest: timedelta | None
) -> Iterator[Problem]:
    if step.timeout is None:
        return
    if step.timeout <= timedelta(0):
        yield problem(
            "E015",
            f"{subject}: timeout is {step.timeout}.",
            hint="Give a timedelta above zero, or leave timeout out.",
            place=step.place,
        )
        return
    if longest is not None and step.timeout >= longest:
        yield problem(
            "E015",
            f"{subject}: timeout is {step.timeout}, but the queue ends any worker after {longest}.",
            hint="Lower it and work in pages with run.checkpoint(...): a step goes on from its last page.",
            place=step.place,
        )
    for effect in step.effects:
        if effect.timeout >= step.timeout:
            yield problem(
                "W005",
                f"{subject} ends after {step.timeout}, before one call of {effect.name!r} may ({effect.timeout}).",
                hint="Raise the step's timeout above the effect's.",
                place=step.place,
            )
