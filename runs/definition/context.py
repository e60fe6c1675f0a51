"""What a step's body is given: the run, and everything that may be done with it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar
from uuid import UUID

from runs.definition.effects import Answer, Effect
from runs.definition.timing import Timing

JSON: TypeAlias = Any  # A JSON value; authors index into it, so it is not spelt out.
Item = TypeVar("Item")
Source = TypeVar("Source", covariant=True)
Level = Literal["debug", "info", "warning", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """How far a step has come: ordinals are compared, tokens are opaque."""

    ordinal: int
    token: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Item]):
    """Some items in their order, and the cursor that stands behind the last of them."""

    items: tuple[Item, ...]
    end: Cursor

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What a judge decided, under the hash of all it saw; `reused` when it was not asked again."""

    value: JSON
    input_hash: str
    reused: bool
    cost: Mapping[str, JSON] | None = None


class Judge(Protocol):
    """Decides a question about a subject, seeing only what `input_of` takes from it."""

    @property
    def name(self) -> str:
        """Who decides."""

    @property
    def parameters(self) -> JSON:
        """Everything that changes its answers: model, prompt, thresholds."""

    def input_of(self, subject: Any, /) -> JSON:
        """All that it may see of a subject."""

    def judge(self, question: str, seen: JSON, /) -> JSON:
        """Its answer."""


class Pageable(Protocol[Source]):
    """A list, a sequence, or a query set ordered by primary key."""

    def __iter__(self) -> Iterator[Source]: ...

    def __getitem__(self, index: Any, /) -> Any: ...


class Run(Protocol):
    """One attempt at one step of one run."""

    @property
    def id(self) -> UUID: ...
    @property
    def reference(self) -> str: ...
    @property
    def step(self) -> str: ...
    @property
    def attempt(self) -> int: ...

    def read(self, name: str) -> JSON:
        """A fact or input field that the step declared in `reads`."""

    def write(self, name: str, value: JSON) -> None:
        """Set a fact that the step declared in `writes`; kept when the step succeeds."""

    def pages(self, source: Pageable[Item], *, size: int) -> Iterator[Page[Item]]:
        """The source in pages, from the first one not yet checkpointed."""

    def checkpoint(self, *, cursor: Cursor) -> AbstractContextManager[None]:
        """One transaction: the body's database writes, and the cursor."""

    def judge(self, question: str, subject: Any, *, by: Judge, sample: int = 0) -> Judged:
        """The judge's answer, asked once for the same input and then kept."""

    def plan(
        self,
        name: str,
        effect: Effect,
        *,
        resource: str | int,
        request: Mapping[str, JSON],
        evidence: JSON = None,
    ) -> None:
        """Put one call on the list that the fact `name` stands for; nothing is sent."""

    def apply(self, name: str) -> Mapping[str, int]:
        """Make the planned and approved calls, each once; how many came to which end."""

    def call(self, effect: Effect, *, resource: str | int, request: Mapping[str, JSON]) -> Answer:
        """Make one call once; a known answer is returned without sending."""

    def ask(
        self,
        name: str,
        *,
        question: str,
        options: Sequence[str] | Mapping[str, str] = ("yes", "no"),
        fields: Mapping[str, JSON] | None = None,
        evidence: JSON = None,
        redact: Sequence[str] = (),
        groups: Sequence[str] = (),
        quorum: int = 1,
        all_of: Sequence[str] = (),
        expires: timedelta | None = None,
        on_expiry: Literal["stay", "cancel", "fail"] = "stay",
        timing: Timing | None = None,
    ) -> dict[str, JSON]:
        """Park until a person has answered: {"option": ..., "fields": {...}, "by": ...}.

        `quorum` people have to answer the same, and somebody of each group of `all_of` among them;
        `by` is then who was the last of them.
        """

    def wait_for(
        self,
        name: str,
        *,
        correlation_id: str,
        expires: timedelta | None = None,
        on_expiry: Literal["fail", "stay", "cancel"] = "fail",
    ) -> dict[str, JSON]:
        """Park until this event has arrived; its payload."""

    def sleep(self, name: str, duration: timedelta, /) -> None:
        """Park for this long."""

    def log(self, message: str, *, level: Level = "info", **fields: JSON) -> None:
        """Leave a bounded, redacted line in the run's log."""

    def progress(self, n: int, of: int | None = None) -> None:
        """Say how far the step has come; counts as a sign of progress."""

    def extend(self, by: timedelta, /) -> None:
        """Say that this stretch of work may go on for so much longer from now, though it is long."""

    def artifact(self, name: str, content: bytes, media_type: str) -> dict[str, JSON]:
        """Store what is too large for a fact; a reference that fits into one."""
