"""A receiver that stands in for the real one: it remembers what arrived, and says what it is told to."""

from collections import Counter
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from runs.definition.effects import Answer, Effect, NotSent, Refused, Request, RetryLater

Arrived = Literal["happened", "known already", "refused", "lost on the way"]
MakeAnswer = Callable[[Request], Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One sending, as the receiver saw it."""

    key: str
    request: Request
    timeout: float
    outcome: Arrived


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the receiver does with one sending: whether it happens, and what the sender hears."""

    happens: bool
    answer: Answer | None = None
    error: Exception | None = None


def confirm(answer: Answer | None = None) -> Reply:
    """It happens, and the sender hears it; without an answer of its own, the receiver's usual one."""
    return Reply(happens=True, answer=answer)


def refuse(reason: str, answer: Answer | None = None) -> Reply:
    """A definite no: it does not happen, and the run asks what now."""
    return Reply(happens=False, error=Refused(reason, answer))


def not_sent(reason: str = "the receiver could not be reached") -> Reply:
    """Nothing leaves the house; the step is tried again by its retry policy, under the same key."""
    return Reply(happens=False, error=NotSent(reason))


def later(after: timedelta, reason: str = "") -> Reply:
    """Nothing leaves the house; the receiver says when to come back."""
    return Reply(happens=False, error=RetryLater(after, reason))


def time_out(*, happened: bool) -> Reply:
    """No answer comes back. `happened` is what only the receiver knows; no time passes."""
    return Reply(happens=happened, error=TimeoutError("no answer in time"))


class Receiver:
    """Takes the calls of one effect. It recognises a key it has seen if the effect has a contract.

    `answer` is what it says when nothing else was scripted: a dict, or a function of the request;
    without one, what the effect declares for rehearsals, or an id of its own.
    """

    def __init__(self, answer: Answer | MakeAnswer | None = None) -> None:
        self.arrivals: list[Arrival] = []
        self.lookups: list[str] = []
        self.recognises_keys = False
        self._answer = answer
        self._script: list[Reply] = []
        self._probe_script: list[bool | Exception] = []
        self._answers: dict[str, Answer] = {}

    def stand_for(self, effect: Effect) -> None:
        """Keep what this effect declares of its receiver."""
        self.recognises_keys = effect.contract is not None
        if self._answer is None:
            self._answer = effect.rehearsed

    def will(self, *replies: Reply) -> None:
        """What becomes of the next sendings, one after the other; after them, the usual answer."""
        self._script.extend(replies)

    def probe_will(self, *said: bool | Exception) -> None:
        """What the next look-ups find, whatever happened: True, False, or an error that they raise."""
        self._probe_script.extend(said)

    @property
    def happened(self) -> Mapping[str, int]:
        """How often each key took effect: more than once is a duplicate."""
        return Counter(each.key for each in self.arrivals if each.outcome == "happened")

    @property
    def requests(self) -> list[Request]:
        """What took effect, in order."""
        return [each.request for each in self.arrivals if each.outcome == "happened"]

    def send(self, request: Request, /, *, key: str, timeout: float) -> Answer:
        """What the engine calls in place of the effect's own `send`."""
        if self.recognises_keys and key in self._answers:
            self._note(request, key, timeout, "known already")
            return deepcopy(self._answers[key])
        reply = self._script.pop(0) if self._script else confirm()
        if reply.happens:
            self._answers[key] = self._usual(request) if reply.answer is None else reply.answer
        self._note(request, key, timeout, _outcome_of(reply))
        if reply.error is not None:
            raise reply.error
        return deepcopy(self._answers[key])

    def find(self, key: str, request: Request) -> Answer | None:
        """What the engine calls in place of the effect's own probe, if it has one."""
        self.lookups.append(key)
        said = self._probe_script.pop(0) if self._probe_script else key in self._answers
        if isinstance(said, Exception):
            raise said
        return deepcopy(self._answers.get(key, self._usual(request))) if said else None

    def _usual(self, request: Request) -> Answer:
        if callable(self._answer):
            return self._answer(deepcopy(request))
        if self._answer is not None:
            return deepcopy(self._answer)
        return {"id": f"faked-{len(self._answers) + 1}"}

    def _note(self, request: Any, key: str, timeout: float, outcome: Arrived) -> None:
        arrival = Arrival(key=key, request=deepcopy(request), timeout=timeout, outcome=outcome)
        self.arrivals.append(arrival)


def _outcome_of(reply: Reply) -> Arrived:
    if reply.happens:
        return "happened"
    return "refused" if isinstance(reply.error, Refused) else "lost on the way"
