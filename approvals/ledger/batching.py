"""Decisions of one shape are answered together: chosen by a person, then one by one, each by itself."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from approvals.ledger import deciding, grounds
from approvals.ledger.grounds import GroundMoved
from approvals.ledger.holding import DecisionChanged, DecisionClosed
from approvals.ledger.voting import Door
from approvals.models import Batch, BatchItem, Decision
from approvals.queries.alike import alike, batch_of, folded_in_words, visible_batch
from approvals.queries.visible import NoSuchDecision
from approvals.rules.asked import NoSuchOption, Option, asked_of
from approvals.rules.door import NotYours
from approvals.rules.schema import validated
from runs.ledger.briefly import briefly
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.policy import Actor, Verb, require

MOST = 500
DOOR = "batch"


class NotTogether(ValueError):
    """These cannot be answered together; the message says which one, and why."""


class AlreadyEnded(Exception):
    """The batch is done or was stopped before; the message says which."""


@commits("batch_committed")
def begin(
    actor: Actor,
    *,
    shown: Mapping[int, str],
    option: str,
    fields: Mapping[str, Any],
    comment: str,
    address: str | None = None,
) -> Batch:
    """Freeze which decisions are answered and how; `shown` is the digest that was shown of each.

    Raises NotAllowed, NotTogether, NoSuchOption, FieldsRefused.
    """
    require(actor, Verb.DECIDE)
    with transaction.atomic():
        now = db_now()
        found = _chosen(actor, shown)
        first = found[0]
        chosen = _harmless(first, option)
        if not chosen.ends_the_run:
            _require_all_in_view(found)
        answers = validated(chosen.fields, fields)
        batch = Batch.objects.create(
            tenant_id=first.tenant_id,
            shape=first.shape,
            user_id=actor.user_id,
            by=actor.name,
            address=address,
            option=chosen.key,
            fields=canonical.dumps(dict(answers)),
            comment=comment.strip()[: deciding.LONGEST_COMMENT],
            amount=len(found),
            at=now,
        )
        BatchItem.objects.bulk_create(
            [BatchItem(batch=batch, decision=each, digest=shown[each.pk]) for each in found]
        )
    return batch


def _chosen(actor: Actor, shown: Mapping[int, str]) -> list[Decision]:
    if not shown:
        raise NotTogether("Choose at least one. Nothing is chosen for you.")
    if len(shown) > MOST:
        raise NotTogether(f"These are {len(shown):,}; at most {MOST} are answered together.")
    found = list(alike(actor).filter(pk__in=list(shown)).order_by("pk"))
    for missing in sorted(set(shown) - {each.pk for each in found}):
        raise NotTogether(
            f"Decision {missing} is not open for you any more, or has to be answered by itself."
        )
    if len({(each.tenant_id, each.shape) for each in found}) > 1:
        raise NotTogether("These are not of one shape: answer each kind by itself.")
    for each in found:
        if each.irreversible:
            raise NotTogether(f"Decision {each.pk} cannot be undone: it is answered by itself.")
    return found


def _require_all_in_view(found: list[Decision]) -> None:
    """Nobody agrees to what stands on another page."""
    for each in found:
        if folded := folded_in_words(each, asked_of(each.ask)):
            raise NotTogether(
                f"Decision {each.pk} is not in view as a whole here ({folded}): answer it on its "
                "own page."
            )


def _harmless(decision: Decision, key: str) -> Option:
    asked = asked_of(decision.ask)
    chosen = asked.option(key)
    if asked.grave(chosen):
        raise NotTogether(f"“{chosen.label}” cannot be undone: it is chosen one by one.")
    return chosen


@commits("batch_committed")
def stop(actor: Actor, batch_id: int) -> Batch:
    """Leave the rest open; what was answered stays. Raises NotAllowed, NoSuchBatch, AlreadyEnded."""
    require(actor, Verb.DECIDE)
    with transaction.atomic():
        batch = visible_batch(actor, batch_id)
        moved = Batch.objects.filter(pk=batch.pk, state="running").update(
            state="stopped", ended_at=db_now(), stopped_by=actor.name
        )
        batch.refresh_from_db()
        if not moved:
            raise AlreadyEnded(f"It is {batch.state} already.")
    return batch


@commits("batch_item_answered", when=bool)
def answer(actor: Actor, item_id: int) -> bool:
    """Answer one decision of a batch as its person did; False when it was done or stopped meanwhile.

    The answer and the mark that it was given are one commit, so a crash leaves both or neither.
    Raises HeldElsewhere.
    """
    item = batch_of(item_id)
    try:
        with transaction.atomic(), briefly():
            if not _mark(item, "answered", ""):
                return False
            deciding.decide(
                actor,
                item.decision_id,
                option=item.batch.option,
                fields=canonical.loads(item.batch.fields),
                comment=item.batch.comment,
                shown_digest=item.digest,
                through=Door(name=DOOR, address=item.batch.address),
            )
    except GroundMoved:
        return _passed_by(item_id, "passed", _asked_anew(actor, item.decision_id))
    except (DecisionClosed, DecisionChanged, NoSuchDecision) as passed:
        return _passed_by(item_id, "passed", str(passed))
    except (NotYours, NoSuchOption, ValueError) as refused:
        return _passed_by(item_id, "refused", str(refused))
    return True


def _asked_anew(actor: Actor, decision_id: int) -> str:
    """The new question went with the transaction of the answer, so it is asked in one of its own."""
    try:
        moved = grounds.reopen(actor, decision_id)
    except (DecisionClosed, NoSuchDecision) as passed:
        return str(passed)
    return str(moved) if moved else "What it rested on had changed for a moment."


@commits("batch_item_answered", when=bool)
def pass_by(item_id: int, told: str) -> bool:
    """Say why one decision of a batch is not answered at all. Raises HeldElsewhere."""
    return _passed_by(item_id, "refused", told)


def _passed_by(item_id: int, outcome: str, told: str) -> bool:
    with transaction.atomic(), briefly():
        return _mark(batch_of(item_id), outcome, told)


def _mark(item: BatchItem, outcome: str, told: str) -> bool:
    """Each item once, its batch held until the transaction ends; with the last one the batch is done."""
    # Before the run: nobody who holds a run asks for its batch; of two watches one passes by here.
    rows = Batch.objects.select_for_update(no_key=True, skip_locked=True)
    if rows.filter(pk=item.batch_id, state="running").first() is None:
        return False
    now = db_now()
    left = BatchItem.objects.filter(batch_id=item.batch_id, outcome="")
    if not left.filter(pk=item.pk).update(outcome=outcome, told=told[:500], at=now):
        return False
    if not left.exists():
        Batch.objects.filter(pk=item.batch_id, state="running").update(state="done", ended_at=now)
    return True
