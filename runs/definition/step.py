"""What a step declares about itself: what it reads, writes, changes, and what happens when it fails."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, TypeVar, get_args

from runs.definition.approvals import Approval, Waived
from runs.definition.demands import names, require_positive
from runs.definition.effects import Effect
from runs.definition.places import DeclarationError, Place

Body = TypeVar("Body", bound=Callable[..., Any])
OnExhausted = Literal["ask", "restart", "stop"]

DECLARATION = "__milepost_step__"
MOST_RESTARTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """How often a failed step is tried, and how long it waits between: base, growing by factor, up to maximum."""

    attempts: int = 3
    base: timedelta = timedelta(seconds=1)
    factor: float = 2.0
    maximum: timedelta = timedelta(minutes=5)
    jitter: float = 0.5
    give_up_on: Sequence[type[BaseException]] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "give_up_on", _classes(self.give_up_on))
        if not _whole(self.attempts) or self.attempts < 1:
            raise DeclarationError(
                f"Retry: attempts is {self.attempts!r}.",
                hint="Give a whole number; 1 means no second try.",
            )
        require_positive("Retry: base", self.base)
        require_positive("Retry: maximum", self.maximum)
        if self.maximum < self.base:
            raise DeclarationError(
                f"Retry: maximum ({self.maximum}) is below base ({self.base}).",
                hint="Raise maximum or lower base.",
            )
        if not _number(self.factor) or not 1 <= self.factor < float("inf"):
            raise DeclarationError(
                f"Retry: factor is {self.factor!r}.", hint="Give a number of 1 or more."
            )
        if not _number(self.jitter) or not 0 <= self.jitter <= 1:
            raise DeclarationError(
                f"Retry: jitter is {self.jitter!r}.", hint="Give a share between 0 and 1."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDeclaration:
    """Everything `@step` was told, beside the body it decorates.

    `files` says why what it writes outside its artifacts survives a crash in the middle; it belongs
    to the certificate, not to the plan.
    """

    key: str
    body: Callable[..., Any] = field(repr=False)
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    effects: tuple[Effect, ...]
    approval: Approval | Waived | None
    retry: Retry
    timeout: timedelta | None
    transactional: bool
    was: str | None
    on_exhausted: OnExhausted
    restarts: int
    may_skip: bool
    files: str | None
    doc: str
    place: Place

    @property
    def scope(self) -> str:
        """The name its keys are made from; outlives a rename of the step."""
        return self.was or self.key

    @property
    def side_effect(self) -> bool:
        """Reads nothing and changes something: what it does depends on nothing that is recorded."""
        return not self.reads and bool(self.effects or self.transactional)


def step(
    *,
    reads: Iterable[str] = (),
    writes: Iterable[str] = (),
    effects: Iterable[Effect] = (),
    approval: Approval | Waived | None = None,
    retry: Retry | None = None,
    timeout: timedelta | None = None,
    transactional: bool = False,
    was: str | None = None,
    on_exhausted: OnExhausted = "ask",
    restarts: int | None = None,
    may_skip: bool = False,
    files: str | None = None,
    each: str | None = None,
) -> Callable[[Body], Body]:
    """Make a method a step of its workflow; its key is the method's name."""

    def declare(body: Body) -> Body:
        place = _place_of(body)
        declaration = StepDeclaration(
            key=body.__name__,
            body=body,
            reads=names(f"Step {body.__name__!r}: reads", reads, place=place),
            writes=names(f"Step {body.__name__!r}: writes", writes, place=place),
            effects=_effects(body.__name__, effects, place=place),
            approval=approval,
            retry=Retry() if retry is None else retry,
            timeout=timeout,
            transactional=transactional,
            was=was,
            on_exhausted=on_exhausted,
            restarts=_restarts(body.__name__, on_exhausted, restarts, place=place),
            may_skip=may_skip,
            files=files,
            doc=inspect.getdoc(body) or "",
            place=place,
        )
        _refuse_wrong_kinds(declaration, each=each)
        setattr(body, DECLARATION, declaration)
        return body

    return declare


def declaration_of(value: object) -> StepDeclaration | None:
    """What `@step` said about this attribute of a class, if it is a step."""
    found = getattr(value, DECLARATION, None)
    return found if isinstance(found, StepDeclaration) else None


def _effects(key: str, values: object, *, place: Place) -> tuple[Effect, ...]:
    if isinstance(values, Effect) or not isinstance(values, Iterable):
        raise DeclarationError(
            f"Step {key!r}: effects is {values!r}.",
            hint="Write a list: effects=[...].",
            place=place,
        )
    found = tuple(values)
    for value in found:
        if not isinstance(value, Effect):
            raise DeclarationError(
                f"Step {key!r}: effects holds {value!r}.",
                hint="Declare an Effect(...) beside the workflow and name it here.",
                place=place,
            )
    return found


def _restarts(key: str, on_exhausted: str, value: object, *, place: Place) -> int:
    """How often in a row a run may be begun anew by itself; none unless that is declared."""
    if value is None:
        return 1 if on_exhausted == "restart" else 0
    if on_exhausted != "restart":
        raise DeclarationError(
            f"Step {key!r}: restarts is {value!r}, and on_exhausted is {on_exhausted!r}.",
            hint='restarts goes with on_exhausted="restart" only.',
            place=place,
        )
    if not _whole(value) or not isinstance(value, int) or not 1 <= value <= MOST_RESTARTS:
        raise DeclarationError(
            f"Step {key!r}: restarts is {value!r}.",
            hint=f"Give a whole number from 1 to {MOST_RESTARTS}.",
            place=place,
        )
    return value


def _place_of(body: object) -> Place:
    if not inspect.isfunction(body):
        raise DeclarationError(
            f"@step decorates {body!r}, which is no plain method.",
            hint="Put @step directly above `def`, without staticmethod, classmethod or property.",
        )
    return Place(file=body.__code__.co_filename, line=body.__code__.co_firstlineno)


def _refuse_wrong_kinds(declared: StepDeclaration, *, each: str | None) -> None:
    subject, place = f"Step {declared.key!r}", declared.place
    if each is not None:
        raise DeclarationError(
            f"{subject}: each={each!r} is not available yet.",
            hint="Go through the elements with run.pages(...) and run.checkpoint(...) instead.",
            place=place,
        )
    expected: list[tuple[str, object, tuple[type, ...], str]] = [
        (
            "approval",
            declared.approval,
            (Approval, Waived, type(None)),
            "Approval(of=...) or Waived(reason)",
        ),
        ("retry", declared.retry, (Retry,), "Retry(attempts=...)"),
        ("timeout", declared.timeout, (timedelta, type(None)), "a timedelta"),
        ("transactional", declared.transactional, (bool,), "True or False"),
        ("may_skip", declared.may_skip, (bool,), "True where the run is right without the step"),
        ("files", declared.files, (str, type(None)), "why its files survive a crash"),
        ("was", declared.was, (str, type(None)), "the step's former name"),
    ]
    for name, value, kinds, wanted in expected:
        if not isinstance(value, kinds):
            raise DeclarationError(
                f"{subject}: {name} is {value!r}.", hint=f"Give {wanted}.", place=place
            )
    if declared.on_exhausted not in get_args(OnExhausted):
        raise DeclarationError(
            f"{subject}: on_exhausted is {declared.on_exhausted!r}.",
            hint='Write "ask", "restart" or "stop".',
            place=place,
        )


def _classes(value: object) -> tuple[type[BaseException], ...]:
    found = (
        (value,)
        if isinstance(value, type)
        else tuple(value)
        if isinstance(value, Iterable)
        else (value,)
    )
    for item in found:
        if not isinstance(item, type) or not issubclass(item, BaseException):
            raise DeclarationError(
                f"Retry: give_up_on holds {item!r}.",
                hint="Name exception classes, such as give_up_on=(ValueError,).",
            )
    return found


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
