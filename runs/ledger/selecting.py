"""Runs are chosen together, then moved one by one, each by the same function as alone."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.db import transaction

from runs.ledger import audit, labelling, lifecycle, resuming, retrying, transitions
from runs.ledger.briefly import briefly
from runs.ledger.commits import commits
from runs.models import Run, Selection, SelectionItem
from runs.queries.clock import db_now
from runs.queries.selections import at_hand, grave_calls, still_seen, visible_selection
from runs.queries.verbs import seen_as, stands_of
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.labels import Label, LabelRefused
from runs.rules.policy import Actor, NotAllowed, Verb, require
from runs.rules.together import MOST, Outcome, SelectionState, Together, why_not_together
from runs.rules.verbs import NotNow

LONGEST_REASON = 2000
REFUSALS = (
    NotAllowed,
    NotNow,
    LabelRefused,
    transitions.MoveRefused,
    transitions.NoSuchRun,
    transitions.RunChanged,
)


class NotTogether(ValueError):
    """These cannot be chosen together; the message says why."""


class NotAtThisPoint(Exception):
    """The selection has begun or ended before; the message says which."""


@commits("selection_committed")
def choose(actor: Actor, run_ids: Sequence[UUID], *, verb: Together, asked_for: str) -> Selection:
    """Freeze which runs are meant and how each stands; nothing is done to them yet.

    Raises NotAllowed, NotTogether.
    """
    require(actor, Verb.OPERATE)
    with transaction.atomic():
        found = _chosen(actor, run_ids)
        selection = Selection.objects.create(
            tenant_id=found[0].tenant_id,
            verb=verb.value,
            asked_for=asked_for.replace("\0", "")[:LONGEST_REASON],
            amount=len(found),
            user_id=actor.user_id,
            by=actor.name,
            at=db_now(),
        )
        SelectionItem.objects.bulk_create(
            SelectionItem(selection=selection, run=run, seen=seen_as(run)) for run in found
        )
    return selection


def _chosen(actor: Actor, run_ids: Sequence[UUID]) -> list[Run]:
    if not run_ids:
        raise NotTogether("Choose at least one run. Nothing is chosen for you.")
    if len(run_ids) > MOST:
        raise NotTogether(f"These are more than {MOST} runs: narrow the filter first.")
    found = still_seen(actor, run_ids)
    if len(found) < len(set(run_ids)):
        raise NotTogether("Not all of these runs are there.")
    if len({run.tenant_id for run in found}) > 1:
        raise NotTogether("These runs belong to several tenants: choose those of one.")
    return found


@commits("selection_committed")
def begin(
    actor: Actor, selection_id: int, *, because: str, given: Mapping[str, str] | None = None
) -> Selection:
    """Have it done to each, in this actor's name. Raises NotAllowed, NoSuchSelection, NotAtThisPoint."""
    require(actor, Verb.OPERATE)
    with transaction.atomic():
        selection, now = visible_selection(actor, selection_id), db_now()
        moved = (
            Selection.objects.filter(pk=selection.pk, state=SelectionState.CHOSEN.value)
            .exclude(verb=Together.EXPORT.value)
            .update(
                state=SelectionState.RUNNING.value,
                begun_at=now,
                because=because.strip()[:LONGEST_REASON],
                given=canonical.dumps(dict(given or {})),
                user_id=actor.user_id,
                by=actor.name,
            )
        )
        _require_moved(selection, moved)
        _tell(selection, "selection.begun", actor, because=because)
    return selection


@commits("selection_committed")
def stop(actor: Actor, selection_id: int) -> Selection:
    """Leave the rest as it is; what was done stays. Raises NotAllowed, NoSuchSelection, NotAtThisPoint."""
    require(actor, Verb.OPERATE)
    with transaction.atomic():
        selection, now = visible_selection(actor, selection_id), db_now()
        moved = Selection.objects.filter(
            pk=selection.pk, state=SelectionState.RUNNING.value
        ).update(state=SelectionState.STOPPED.value, ended_at=now, stopped_by=actor.name)
        _require_moved(selection, moved)
        _tell(selection, "selection.stopped", actor)
    return selection


def _require_moved(selection: Selection, moved: int) -> None:
    try:
        selection.refresh_from_db()
    except Selection.DoesNotExist:
        raise NotAtThisPoint(
            "This selection was taken away meanwhile: nobody had begun it for too long."
        ) from None
    if not moved:
        raise NotAtThisPoint(f"This selection is {selection.state} already.")


def _tell(selection: Selection, kind: str, actor: Actor, **more: str) -> None:
    body = {
        "selection": selection.pk,
        "verb": selection.verb,
        "runs": selection.amount,
        "given": canonical.loads(selection.given),
        **more,
    }
    told = Draft(kind=kind, body=canonical.dumps(body))
    audit.append_to_tenant(selection.tenant_id, [told], now=db_now(), actor=actor.name)


@commits("selection_item_done", when=bool)
def do(actor: Actor, item_id: int) -> bool:
    """Do to one run what was ordered for all; False when that was done, or stopped, meanwhile.

    The move and the mark that it was made are one commit, so a crash leaves both or neither.
    Raises HeldElsewhere.
    """
    try:
        with transaction.atomic(), briefly():
            item = _taken(item_id)
            if item is None:
                return False
            _do(actor, item)
            return _booked(item, Outcome.DONE, "")
    except REFUSALS as refused:
        return _passed_by(item_id, str(refused))


@commits("selection_item_done", when=bool)
def pass_by(item_id: int, told: str) -> bool:
    """Say why it was not done to one run."""
    return _passed_by(item_id, told)


def _passed_by(item_id: int, told: str) -> bool:
    with transaction.atomic(), briefly():
        item = _taken(item_id)
        return item is not None and _booked(item, Outcome.REFUSED, told)


def _taken(item_id: int) -> SelectionItem | None:
    """An item that is still to be done, its selection held until the transaction ends."""
    item = SelectionItem.objects.get(pk=item_id)
    # Before the run: nobody who holds a run asks for its selection; of two watches one passes by here.
    rows = Selection.objects.select_for_update(no_key=True, skip_locked=True)
    held = rows.filter(pk=item.selection_id).first()
    if held is None:
        return None
    item = SelectionItem.objects.get(pk=item_id)
    item.selection = held
    return item if held.state == SelectionState.RUNNING and not item.outcome else None


def _booked(item: SelectionItem, outcome: Outcome, told: str) -> bool:
    """Each item once; with the last one the selection is done."""
    now = db_now()
    left = SelectionItem.objects.filter(selection_id=item.selection_id, outcome="")
    if not left.filter(pk=item.pk).update(outcome=outcome.value, told=told[:500], at=now):
        return False
    if not left.exists():
        Selection.objects.filter(pk=item.selection_id, state=SelectionState.RUNNING.value).update(
            state=SelectionState.DONE.value, ended_at=now
        )
    return True


def _do(actor: Actor, item: SelectionItem) -> None:
    """By the very function that a person's own page calls, bound to how the run was seen."""
    selection, run_id, seen = item.selection, item.run_id, item.seen
    verb = Together(selection.verb)
    because = f"{selection.because} (selection {selection.pk})"
    _require_not_alone(verb, run_id)
    match verb:
        case Together.CANCEL:
            lifecycle.cancel(actor, run_id, because=because, seen=seen)
        case Together.RESUME:
            resuming.resume(actor, run_id, because=because, seen=seen)
        case Together.RETRY:
            retrying.retry_now(actor, run_id, because=because, seen=seen)
        case Together.LABEL:
            wish = Label(**canonical.loads(selection.given))
            labelling.label(actor, run_id, wish, because=because, seen=seen)


def _require_not_alone(verb: Together, run_id: UUID) -> None:
    """What has to be looked at alone is so at this moment, whatever the page has foretold."""
    run = transitions.lock(run_id)
    grave, leaving = grave_calls([run_id]).get(run_id, []), at_hand(run)
    if not (grave or leaving):
        return
    if refusal := why_not_together(verb, stands_of(run), grave=grave, at_hand=leaving):
        raise NotNow(refusal)
