"""A workflow as its author writes it: a class whose steps run in the order they stand in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Literal

from runs.definition import registry
from runs.definition.demands import paths, require_positive
from runs.definition.migrating import Migration, require_migrations
from runs.definition.places import DeclarationError, Place, declared_here
from runs.definition.step import StepDeclaration, declaration_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """How often a run says "I live", how late that may be, and how long it may make no progress.

    `starts_within` is how long it may lie before a worker begins it; `longest` is how long a worker
    may be at it without a pause, which the run itself puts off with `run.extend`.
    """

    every: timedelta
    grace: timedelta
    progress: timedelta | None = None
    starts_within: timedelta | None = None
    longest: timedelta | None = None

    def __post_init__(self) -> None:
        require_positive("Heartbeat: every", self.every)
        require_positive("Heartbeat: grace", self.grace)
        for name in ("starts_within", "longest"):
            if getattr(self, name) is not None:
                require_positive(f"Heartbeat: {name}", getattr(self, name))
        if self.progress is None:
            return
        require_positive("Heartbeat: progress", self.progress)
        if self.progress < self.every:
            raise DeclarationError(
                f"Heartbeat: progress ({self.progress}) is below every ({self.every}).",
                hint="A run cannot be seen to stand still between two heartbeats; raise progress or lower every.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """A step key that a class body defines a second time, which Python itself would pass over."""

    key: str
    first: Place
    second: Place


class _Body(dict[str, Any]):
    """A class body that notices when a step's name is used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.repeated: list[Repeated] = []

    def __setitem__(self, name: str, value: object) -> None:
        before = self.get(name)
        if before is not None and (declaration_of(before) or declaration_of(value)):
            again = Repeated(key=name, first=_place_of(before), second=_place_of(value))
            self.repeated.append(again)
        super().__setitem__(name, value)


def _place_of(value: object) -> Place:
    declared = declaration_of(value)
    return declared.place if declared else declared_here()


class WorkflowType(type):
    """Makes workflow classes: keeps the steps in their order and enters the class in the registry."""

    @classmethod
    def __prepare__(mcs, _name: str, _bases: tuple[type, ...], /, **_kw: object) -> _Body:  # noqa: N804
        return _Body()

    def __new__(
        mcs, name: str, bases: tuple[type, ...], body: dict[str, Any], /, *, abstract: bool = False
    ) -> "WorkflowType":
        made = super().__new__(mcs, name, bases, dict(body))
        if not bases:
            return made
        workflow: Any = made
        workflow.place = declared_here()
        workflow.repeated = tuple(body.repeated) if isinstance(body, _Body) else ()
        workflow.steps = _steps_of(made)
        workflow.abstract = abstract
        if not abstract:
            _require_identity(workflow)
            registry.register(workflow)
        return made

    def __init__(
        cls, name: str, bases: tuple[type, ...], body: dict[str, Any], /, *, abstract: bool = False
    ) -> None:
        super().__init__(name, bases, body)


class Workflow(metaclass=WorkflowType):
    """Subclass this, name it, number it, and write its steps one below the other.

    A subclass of a workflow keeps its steps in their places; a step it defines anew stands where
    the old one stood, further ones follow. `class Base(Workflow, abstract=True)` is not registered.
    A drill starts it with `drilled_with`, as far as it is given no other input.
    With `on_deadline = "ask"` a person may raise a deadline that is over, instead of a run that stops.
    `redact` are paths, each beginning with a fact or an input field, that nobody is shown.
    """

    name: ClassVar[str]
    version: ClassVar[int]
    deadline: ClassVar[timedelta | None] = None
    on_deadline: ClassVar[Literal["stop", "ask"]] = "stop"
    heartbeat: ClassVar[Heartbeat | None] = None
    Input: ClassVar[type | None] = None
    migrations: ClassVar[Mapping[int, Migration]] = {}
    drilled_with: ClassVar[Mapping[str, Any]] = {}
    redact: ClassVar[Sequence[str]] = ()

    place: ClassVar[Place]
    steps: ClassVar[tuple[StepDeclaration, ...]] = ()
    repeated: ClassVar[tuple[Repeated, ...]] = ()
    abstract: ClassVar[bool] = True


def _steps_of(cls: type) -> tuple[StepDeclaration, ...]:
    found: dict[str, StepDeclaration | None] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            declared = declaration_of(value)
            if declared or name in found:
                found[name] = declared
    return tuple(declared for declared in found.values() if declared)


def _require_identity(cls: Any) -> None:
    if not isinstance(getattr(cls, "name", None), str):
        raise DeclarationError(
            f"Workflow class {cls.__name__} has no name.",
            hint='Write `name, version = "its_name", 1` in its body, or `abstract=True` beside its base class.',
            place=cls.place,
        )
    version = getattr(cls, "version", None)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise DeclarationError(
            f"Workflow {cls.name!r} has the version {version!r}.",
            hint="Number it from 1, and raise the number when its plan changes.",
            place=cls.place,
        )
    if cls.on_deadline not in ("stop", "ask"):
        raise DeclarationError(
            f"Workflow {cls.name!r}: on_deadline is {cls.on_deadline!r}.",
            hint='Write "stop" or "ask".',
            place=cls.place,
        )
    cls.redact = paths(f"Workflow {cls.name!r}: redact", cls.redact, place=cls.place)
    require_migrations(cls.name, version, vars(cls).get("migrations"), place=cls.place)
