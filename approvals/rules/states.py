"""Which states a decision may leave, and which of them say that a person has answered."""

from runs.rules.states import DecisionState

ANSWERS = frozenset({DecisionState.APPROVED, DecisionState.REJECTED, DecisionState.ANSWERED})
CLOSED = frozenset(DecisionState) - {DecisionState.OPEN}

# One move and no more: whatever a decision has become, it stays.
MOVES: dict[DecisionState, frozenset[DecisionState]] = {
    DecisionState.OPEN: CLOSED,
    **{state: frozenset() for state in CLOSED},
}
