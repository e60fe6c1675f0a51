"""Which states exist and which moves between them are allowed."""

from enum import StrEnum


class RunState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    FAILED = "failed"
    SUCCEEDED = "succeeded"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


class StepState(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"


class CallState(StrEnum):
    INTENDED = "intended"
    SENT = "sent"
    CONFIRMED = "confirmed"
    REFUSED = "refused"
    AMBIGUOUS = "ambiguous"
    ABANDONED = "abandoned"


class WaitState(StrEnum):
    OPEN = "open"
    RESOLVED = "resolved"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


# What the clock does at the time of a wait whose answer was given before: it lets it take effect.
TAKES_EFFECT = "answer"


class WaitKind(StrEnum):
    DECISION = "decision"
    EVENT = "event"
    TIMER = "timer"
    RETRY = "retry"
    CAPACITY = "capacity"
    RELAY = "relay"


class DecisionState(StrEnum):
    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"
    ANSWERED = "answered"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"


class AssignmentState(StrEnum):
    PLACED = "placed"
    CLAIMED = "claimed"
    RELEASED = "released"
    LOST = "lost"


class WorkerState(StrEnum):
    LIVE = "live"
    ENDED = "ended"
    LOST = "lost"


class DeliveryState(StrEnum):
    PENDING = "pending"
    DELIVERED = "delivered"
    HELD = "held"
    DEAD = "dead"


FINAL = frozenset({RunState.SUCCEEDED, RunState.CANCELLED, RunState.SUPERSEDED})
OPEN = frozenset(RunState) - FINAL

# From each state, the states a single recorded move may lead to.
MOVES: dict[RunState, frozenset[RunState]] = {
    RunState.QUEUED: frozenset(
        {
            RunState.RUNNING,
            RunState.WAITING,
            RunState.PAUSED,
            RunState.FAILED,
            RunState.CANCELLED,
            RunState.SUPERSEDED,
        }
    ),
    RunState.RUNNING: frozenset(
        {
            RunState.QUEUED,
            RunState.WAITING,
            RunState.PAUSED,
            RunState.FAILED,
            RunState.SUCCEEDED,
            RunState.CANCELLED,
            RunState.SUPERSEDED,
        }
    ),
    RunState.WAITING: frozenset(
        {RunState.QUEUED, RunState.PAUSED, RunState.FAILED, RunState.CANCELLED, RunState.SUPERSEDED}
    ),
    RunState.PAUSED: frozenset(
        {
            RunState.QUEUED,
            RunState.WAITING,
            RunState.FAILED,
            RunState.CANCELLED,
            RunState.SUPERSEDED,
        }
    ),
    RunState.FAILED: frozenset({RunState.QUEUED, RunState.CANCELLED, RunState.SUPERSEDED}),
    RunState.SUCCEEDED: frozenset(),
    RunState.CANCELLED: frozenset(),
    RunState.SUPERSEDED: frozenset(),
}

CALL_MOVES: dict[CallState, frozenset[CallState]] = {
    CallState.INTENDED: frozenset(
        {
            CallState.SENT,
            CallState.CONFIRMED,
            CallState.REFUSED,
            CallState.AMBIGUOUS,
            CallState.ABANDONED,
        }
    ),
    CallState.SENT: frozenset(
        {CallState.CONFIRMED, CallState.REFUSED, CallState.AMBIGUOUS, CallState.ABANDONED}
    ),
    CallState.AMBIGUOUS: frozenset(
        {CallState.SENT, CallState.CONFIRMED, CallState.REFUSED, CallState.ABANDONED}
    ),
    CallState.REFUSED: frozenset({CallState.SENT}),
    CallState.CONFIRMED: frozenset(),
    CallState.ABANDONED: frozenset(),
}

UNSETTLED_CALLS = frozenset({CallState.INTENDED, CallState.SENT, CallState.AMBIGUOUS})


def sources_of(to: RunState) -> frozenset[RunState]:
    """The states from which a run may move to `to`."""
    return frozenset(state for state, targets in MOVES.items() if to in targets)


def call_sources_of(to: CallState) -> frozenset[CallState]:
    """The states from which a call may move to `to`."""
    return frozenset(state for state, targets in CALL_MOVES.items() if to in targets)
