"""The gate of waits that a person answers: called inside the engine's own transactions."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from approvals.ledger import closing, deciding, noticing, opening, taking_effect
from approvals.ledger.holding import DecisionClosed
from approvals.queries.visible import decision_of_wait
from approvals.rules.door import NotYours
from runs.definition.gates import DueAnswer, OpenedWait
from runs.rules.policy import Actor

MOST_PEOPLE = 20


class DecisionGate:
    """Opens, expires and withdraws decisions together with the waits that they answer."""

    def open(self, opened: OpenedWait) -> None:
        """A run has parked for a person."""
        opening.open_decision(opened)

    def expire(self, wait_id: int) -> None:
        """The clock was first."""
        closing.expire(wait_id)

    def answer_when_due(self, wait_id: int) -> DueAnswer | None:
        """The time of an answer that was given before has come."""
        return taking_effect.take_effect(wait_id)

    def withdraw(self, run_id: UUID, because: str) -> None:
        """The run was closed; nobody is asked any more."""
        closing.withdraw(run_id, because)

    def supersede(self, run_id: UUID, because: str) -> None:
        """A replay begins a later generation, which will ask anew."""
        closing.supersede(run_id, because)

    def postpone(self, wait_id: int, until: datetime) -> None:
        """The run was paused meanwhile; whoever was asked has as much time left as before."""
        closing.postpone(wait_id, until)

    def go_on(self, wait_id: int, since: datetime, now: datetime) -> None:
        """People are told again as much later as the run stood still."""
        noticing.go_on(wait_id, since=since, now=now)


def answer_in_a_drill(
    actor: Actor, wait_id: int, *, option: str, fields: Mapping[str, Any], comment: str
) -> None:
    """The drill's people answer as the page would; a list is taken as it stands.

    Said once more, because the first saying died behind its commit, it changes nothing. Where
    several have to agree, there are as many of them.
    """
    decision = decision_of_wait(actor, wait_id)
    for number in range(MOST_PEOPLE):
        person = replace(actor, name=f"{actor.name} ({number + 1})") if number else actor
        try:
            decided = deciding.decide(
                person,
                decision.pk,
                option=option,
                fields=fields,
                comment=comment,
                shown_digest=decision.digest,
                confirm=decision.digest,
                through=deciding.Door(name="drill"),
            )
        except DecisionClosed:
            return
        except NotYours as refused:
            if refused.refusal.missing != "vote":
                raise
            continue
        if decided.is_final:
            return
