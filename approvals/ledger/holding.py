"""Take a decision into one's hands: the run's row first, then the decision as it is then."""

from contextlib import suppress
from datetime import datetime

from approvals.models import Decision
from approvals.queries.visible import visible_decision
from runs.ledger import waits
from runs.rules.policy import Actor
from runs.rules.states import DecisionState


class DecisionClosed(Exception):
    """The decision has been answered, has expired or was withdrawn; the message says by whom."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(sentence_of(decision))
        self.decision = decision


class DecisionExpired(DecisionClosed):
    """The time for an answer is over, so none is taken any more."""


class AnswerWaits(DecisionClosed):
    """It has been answered, and the answer takes effect later; whoever gave it may take it back."""


class AnswerTookEffect(DecisionClosed):
    """The time of an answer has come, so nobody takes it back any more."""


class DecisionChanged(Exception):
    """What would be bound is not what was shown; nothing was recorded.

    `altered` are calls whose stored bytes no longer fit their digest: nothing can be approved.
    """

    def __init__(
        self, decision: Decision, *, shown: str, now: str, altered: tuple[int, ...] = ()
    ) -> None:
        super().__init__(f"Shown was {shown[:12] or 'nothing'}, now it is {now[:12]}.")
        self.decision, self.shown, self.now, self.altered = decision, shown, now, altered


def held(actor: Actor, decision_id: int, *, now: datetime) -> Decision:
    """The open decision, its run's row locked until the transaction ends.

    Raises NoSuchDecision, DecisionClosed, DecisionExpired.
    """
    decision = _locked(actor, decision_id)
    require_open(decision, now=now)
    return decision


def held_as_answered(actor: Actor, decision_id: int, *, now: datetime) -> Decision:
    """The same of one that has been answered in part, or whose answer has not taken effect yet.

    Raises NoSuchDecision, DecisionClosed, DecisionExpired, AnswerTookEffect.
    """
    decision = _locked(actor, decision_id)
    if decision.takes_effect_at is None:
        require_open(decision, now=now)
    elif (decision.run.paused_at or now) >= decision.takes_effect_at:
        raise AnswerTookEffect(decision)
    return decision


def _locked(actor: Actor, decision_id: int) -> Decision:
    seen = visible_decision(actor, decision_id)
    # Run, wait, decision: parking, the clock and cancelling take them in this order, the reverse
    # deadlocks. They all hold the run's row, so what is read after this stays true.
    with suppress(waits.WaitClosed):
        waits.lock_open(seen.wait_id)
    return visible_decision(actor, decision_id)


def require_open(decision: Decision, *, now: datetime) -> None:
    """Raises DecisionClosed, DecisionExpired or AnswerWaits unless it may still be answered."""
    if decision.state == DecisionState.EXPIRED.value:
        raise DecisionExpired(decision)
    if decision.state != DecisionState.OPEN.value:
        raise DecisionClosed(decision)
    if decision.takes_effect_at is not None:
        raise AnswerWaits(decision)
    if is_over(decision, now=now):
        raise DecisionExpired(decision)


def is_over(decision: Decision, *, now: datetime) -> bool:
    """Whether the clock may close it at any moment, so that no answer counts any more.

    While its run is paused, the clock stands.
    """
    closes = decision.expires_at if decision.on_expiry != "stay" else None
    return closes is not None and (decision.run.paused_at or now) >= closes


def sentence_of(decision: Decision) -> str:
    """Who was first, and when."""
    if decision.takes_effect_at is not None:
        return (
            f"Already answered with “{decision.deferred_option}”; the answer takes effect at "
            f"{_clock(decision.takes_effect_at)}."
        )
    if decision.closed_at is None:
        return f"The time for an answer was over at {_clock(decision.expires_at)}."
    who = f" by {decision.closed_by}" if decision.closed_by else ""
    why = f" {decision.because}" if decision.because else ""
    return f"Already {decision.state}{who} at {_clock(decision.closed_at)}.{why}"


def _clock(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC" if at else "a time unknown"
