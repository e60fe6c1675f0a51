"""How a workflow may change the outside world, and what is promised about each such call."""

import re
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from runs.definition.demands import paths, require_callable, require_positive
from runs.definition.places import DeclarationError, Place, declared_here

EFFECT_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")
SECRET_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
LONGEST_NAME = 100

Request = dict[str, Any]
Answer = dict[str, Any]


class Send(Protocol):
    """Carries one call to its receiver and brings the receiver's answer back."""

    def __call__(self, request: Request, /, *, key: str, timeout: float) -> Answer: ...


Find = Callable[[str, Request], Answer | None]


class Refused(Exception):
    """Raised by `send`: the receiver said no, definitely; kept, and not sent again in this run."""

    def __init__(self, reason: str, answer: Answer | None = None) -> None:
        self.reason = reason
        self.answer = answer
        super().__init__(reason)


class Undone(Exception):
    """Raised by `run.call`: a person had this call undone by its `compensate`; it is not sent again."""


class UndoUnsettled(Undone):
    """The same, while nobody knows whether its undo happened, or that has not left yet."""


class NotSent(Exception):
    """Raised by `send`: nothing left the house, so the same key may be sent again."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class RetryLater(Exception):
    """Raised by `send` or a step's body: nothing left the house; come back after this long."""

    def __init__(self, after: timedelta, reason: str = "") -> None:
        self.after = after
        self.reason = reason
        super().__init__(reason or f"try again after {after}")


@dataclass(frozen=True, slots=True)
class Contract:
    """The receiver's documented deduplication promise, and how long it holds (None: for ever)."""

    promise: str
    window: timedelta | None

    def __post_init__(self) -> None:
        if not isinstance(self.promise, str) or not self.promise.strip():
            raise DeclarationError(
                "A Contract promises nothing.",
                hint="Write the receiver's documented promise as its first argument, or leave contract= out.",
            )
        if self.window is not None:
            require_positive("A Contract's window", self.window)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A look-up by key that answers "did it happen?"; a "no" counts once `settles` has passed."""

    find: Find
    settles: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        require_callable("A Probe's find", self.find, "find(key, request) -> dict | None")
        if not isinstance(self.settles, timedelta) or self.settles < timedelta(0):
            raise DeclarationError(
                f"A Probe's settles is {self.settles!r}.",
                hint="Give a timedelta of zero or more: how long after a call the receiver may still not show it.",
            )


@dataclass(frozen=True, slots=True)
class Secret:
    """A value known by name only: resolved at the send, never stored, never shown."""

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not SECRET_NAME.fullmatch(self.name):
            raise DeclarationError(
                f"{self.name!r} is no name for a Secret.",
                hint="Use letters, digits and underscores, beginning with a letter.",
            )


@dataclass(frozen=True, slots=True)
class Effect:
    """A call that changes the outside world; irreversible unless it says how it is undone.

    `cost` is what one call costs, in the author's own unit; a drill counts what was saved by it.
    `rehearsed(request)` is what the receiver would answer; a drill, which sends nothing, answers so.
    With `relay` a courier sends it from the outbox, one at a time where the receiver has no contract and
    in order for each resource; the run waits meanwhile, and its worker is free.
    `compensate` is what undoes it: an Effect of its own, or its `send`; it is given the key, the
    request and the answer (if one is known) of what it undoes.
    `redact` are paths such as "card.number" or "items.*.iban" in request, answer and evidence that
    nobody is shown; what is approved and sent is digested over the real bytes all the same.
    """

    name: str
    _: KW_ONLY
    send: Send
    contract: Contract | None = None
    probe: Probe | Find | None = None
    timeout: timedelta = timedelta(seconds=30)
    reversible: str | None = None
    compensate: "Effect | Send | None" = None
    id_of: Callable[[Answer], object] | None = None
    cost: float | None = None
    rehearsed: Callable[[Request], Answer] | None = None
    relay: bool = False
    redact: Sequence[str] = ()
    place: Place = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", declared_here())
        self._check_name()
        subject = f"Effect {self.name!r}"
        require_callable(f"{subject}: send", self.send, "send(request, *, key, timeout) -> dict")
        require_positive(f"{subject}: timeout", self.timeout)
        self._check_contract()
        self._check_reversible()
        if self.probe is not None and not isinstance(self.probe, Probe):
            require_callable(f"{subject}: probe", self.probe, "find(key, request) -> dict | None")
        self._check_compensate(subject)
        self._check_relay(subject)
        object.__setattr__(self, "redact", paths(f"{subject}: redact", self.redact))
        if self.id_of is not None:
            require_callable(f"{subject}: id_of", self.id_of, "id_of(answer) -> the receiver's id")
        if self.rehearsed is not None:
            require_callable(f"{subject}: rehearsed", self.rehearsed, "rehearsed(request) -> dict")
        self._check_cost()

    def _check_name(self) -> None:
        if (
            isinstance(self.name, str)
            and EFFECT_NAME.fullmatch(self.name)
            and len(self.name) <= LONGEST_NAME
        ):
            return
        raise DeclarationError(
            f"{self.name!r} is no name for an Effect.",
            hint=f'Use lower-case words joined by dots, such as "mailbox.delete", at most {LONGEST_NAME} characters.',
        )

    def _check_contract(self) -> None:
        if self.contract is not None and not isinstance(self.contract, Contract):
            raise DeclarationError(
                f"Effect {self.name!r}: contract is {self.contract!r}.",
                hint='Write contract=Contract("the promise", window=...), or leave it out.',
            )

    def _check_reversible(self) -> None:
        if self.reversible is None:
            return
        if not isinstance(self.reversible, str) or not self.reversible.strip():
            raise DeclarationError(
                f"Effect {self.name!r}: reversible is {self.reversible!r}.",
                hint='Say in words how it is undone, such as reversible="a second report does no harm", or leave it out.',
            )

    def _check_compensate(self, subject: str) -> None:
        if self.compensate is None or isinstance(self.compensate, Effect):
            return
        require_callable(
            f"{subject}: compensate", self.compensate, "undo(request, *, key, timeout) -> dict"
        )

    def _check_relay(self, subject: str) -> None:
        if not isinstance(self.relay, bool):
            raise DeclarationError(
                f"{subject}: relay is {self.relay!r}.",
                hint="Write relay=True to have a courier send it from the outbox, or leave it out.",
            )

    def _check_cost(self) -> None:
        numeric = isinstance(self.cost, int | float) and not isinstance(self.cost, bool)
        if self.cost is not None and not (numeric and 0 <= self.cost < float("inf")):
            raise DeclarationError(
                f"Effect {self.name!r}: cost is {self.cost!r}.",
                hint="Give what one call costs as a number of zero or more, or leave it out.",
            )

    @property
    def irreversible(self) -> bool:
        """Whether a person has to approve it first."""
        return self.reversible is None and self.compensate is None

    @property
    def receiver(self) -> str:
        """Who is reached by it: what stands before the last dot of its name."""
        return self.name.rpartition(".")[0] or self.name

    @property
    def undo(self) -> "Effect | None":
        """What undoes it as an Effect, also where the author gave a plain function."""
        if self.compensate is None or isinstance(self.compensate, Effect):
            return self.compensate
        return Effect(
            f"{self.name}.undo"[:LONGEST_NAME],
            send=self.compensate,
            timeout=self.timeout,
            reversible=f"it undoes {self.name}",
        )

    @property
    def look_up(self) -> Probe | None:
        """The probe as a Probe, also where the author gave a plain function."""
        if self.probe is None or isinstance(self.probe, Probe):
            return self.probe
        return Probe(find=self.probe)
