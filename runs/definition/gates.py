"""Gates: who is told, in the same transaction, that a run has parked and what it waits for."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from runs.definition.context import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedWait:
    """A wait that is being opened: what a gate needs to know to show it to the right people."""

    wait_id: int
    kind: str
    name: str
    run_id: UUID
    tenant_id: int
    workflow: str
    step: str
    generation: int
    asks: JSON
    expires_at: datetime | None
    on_due: str = "stay"


@dataclass(frozen=True, slots=True, kw_only=True)
class DueAnswer:
    """An answer that was given before, and takes effect now that its time has come."""

    answer: Mapping[str, Any]
    by: str
    then: str
    because: str
    facts: Mapping[str, Any]


class Gate(Protocol):
    """What a kind of wait does when it opens, and when nobody waits for it any more."""

    def open(self, opened: OpenedWait) -> None:
        """Called inside the transaction that opens the wait."""

    def expire(self, wait_id: int) -> None:
        """Called inside the transaction in which the clock closes the wait unanswered."""

    def answer_when_due(self, wait_id: int) -> DueAnswer | None:
        """Called inside the transaction in which a deferred answer takes effect; None: it does not."""

    def withdraw(self, run_id: UUID, because: str) -> None:
        """Called inside the transaction that closes the run."""

    def supersede(self, run_id: UUID, because: str) -> None:
        """Called inside the transaction of a replay, which asks anew in a later generation."""

    def postpone(self, wait_id: int, until: datetime) -> None:
        """Called inside the transaction that resumes a paused run: the clock stood meanwhile."""

    def go_on(self, wait_id: int, since: datetime, now: datetime) -> None:
        """Called in the same: the run stood still `since` then, and its wait goes on from `now`."""


class Quiet:
    """The gate of waits that no person is asked about: the clock or an event answers them."""

    def open(self, opened: OpenedWait) -> None:
        """Nobody has to be told."""

    def expire(self, wait_id: int) -> None:
        """Nothing was shown that would have to be taken back."""

    def answer_when_due(self, wait_id: int) -> DueAnswer | None:
        """Nobody answers such a wait before its time."""
        return None

    def withdraw(self, run_id: UUID, because: str) -> None:
        """Nothing was shown that would have to be taken back."""

    def supersede(self, run_id: UUID, because: str) -> None:
        """Nothing was shown that would have to be taken back."""

    def postpone(self, wait_id: int, until: datetime) -> None:
        """Nobody was told until when."""

    def go_on(self, wait_id: int, since: datetime, now: datetime) -> None:
        """Nobody is told again of such a wait."""


class NoGate(LookupError):
    """No gate is registered for this kind of wait, so nobody would ever answer it."""


_gates: dict[str, Gate] = {}


def register(kind: str, gate: Gate) -> None:
    """Let this gate answer for a kind of wait; registering anew replaces it."""
    _gates[kind] = gate


def gate_for(kind: str) -> Gate:
    """The gate that answers for a kind of wait."""
    try:
        return _gates[kind]
    except KeyError:
        known = ", ".join(sorted(_gates)) or "none"
        raise NoGate(
            f"No gate is registered for waits of kind {kind!r} (registered: {known}); "
            "the app that answers them must register one when it gets ready."
        ) from None


def registered() -> frozenset[str]:
    """The kinds of wait that somebody answers for."""
    return frozenset(_gates)
