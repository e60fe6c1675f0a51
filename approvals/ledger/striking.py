"""Single calls are struck off a list, or put back, before the rest is approved."""

from collections.abc import Collection
from datetime import datetime

from django.db import transaction

from approvals.ledger import voting
from approvals.ledger.holding import DecisionChanged, DecisionClosed, held
from approvals.models import Decision, Strike
from approvals.queries import lists
from approvals.queries.cases import case_of
from approvals.rules import door
from runs.queries.clock import db_now
from runs.rules.policy import Actor
from runs.rules.states import DecisionState


class NoSuchCall(ValueError):
    """The list holds no call with this number."""


class NothingToStrike(ValueError):
    """This decision is not about a list."""


@transaction.atomic
def strike(
    actor: Actor,
    decision_id: int,
    *,
    ordinals: Collection[int],
    struck: bool,
    expected_version: int | None = None,
) -> Decision:
    """Strike calls off the list, or put them back; what remains gets a new digest.

    Raises NoSuchDecision, DecisionClosed, DecisionExpired, NotYours, DecisionChanged,
    NoSuchCall, NothingToStrike.
    """
    now = db_now()
    decision = held(actor, decision_id, now=now)
    if refusal := door.refusal(actor, case_of(actor, decision, now=now)):
        raise door.NotYours(refusal)
    if expected_version not in (None, decision.seq):
        raise DecisionChanged(decision, shown="", now=decision.digest)
    return apply(decision, ordinals=ordinals, struck=struck, by=actor.name, now=now)


def apply(
    decision: Decision, *, ordinals: Collection[int], struck: bool, by: str, now: datetime
) -> Decision:
    """The same on a decision that is held already."""
    _require_listed(decision, ordinals)
    Strike.objects.bulk_create(
        [
            Strike(
                decision=decision, ordinal=ordinal, struck=struck, by=by, at=now,
                seq=decision.seq + 1,
            )
            for ordinal in sorted(set(ordinals))
        ],
        update_conflicts=True,
        unique_fields=["decision", "ordinal"],
        update_fields=["struck", "by", "at", "seq"],
    )  # fmt: skip
    left = lists.remaining(decision, lists.struck_of(decision))
    moved = Decision.objects.filter(
        pk=decision.pk, state=DecisionState.OPEN.value, seq=decision.seq
    ).update(seq=decision.seq + 1, count=left.count, digest=left.digest)
    if not moved:
        raise DecisionClosed(Decision.objects.get(pk=decision.pk))
    # A vote binds a digest (R16): what was agreed to is no longer what stands there.
    voting.annul(decision, because=f"{by} changed the list after it.", now=now)
    decision.seq, decision.count, decision.digest = decision.seq + 1, left.count, left.digest
    return decision


def _require_listed(decision: Decision, ordinals: Collection[int]) -> None:
    if decision.kind != "plan":
        raise NothingToStrike("Only from a list can single calls be struck off.")
    rows = lists.rows_of(decision, lists.plan_of(decision))
    known = set(rows.values_list("ordinal", flat=True))
    if unknown := sorted(set(ordinals) - known):
        raise NoSuchCall(f"The list has no call {unknown[0]}; it has {len(known):,} calls.")
