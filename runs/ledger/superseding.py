"""One run takes another one's place: at once, after a decision, or when its worker has let go (R17)."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction

from runs.ledger import assignments, audit, birth, ending, replaced, transitions
from runs.ledger.commits import commits
from runs.models import Call, Run, Wait
from runs.queries.clock import db_now
from runs.queries.lineage import (
    LETS_GO,
    have_made_room,
    predecessors,
    ready_restart,
    still_held,
    still_open,
    waiting_restart,
)
from runs.queries.preview import is_being_cancelled, restart_preview, unsettled_keys
from runs.rules import canonical, succession
from runs.rules.chain import Draft
from runs.rules.states import FINAL, AssignmentState, CallState, RunState, WaitKind, WaitState
from runs.rules.written import WaitDraft

SEVERAL = 2


def take_place(
    new: Run,
    old: Run,
    *,
    because: str,
    by: str,
    now: datetime,
    fence: int = 0,
    abandon: Collection[str] = (),
) -> None:
    """The old run, locked and in nobody's hands, ends as superseded; a final one stays as it is."""
    link = {"restarted_as": str(new.pk), "abandoned": sorted(abandon)}
    if RunState(old.state) in FINAL:
        # Its own chain is closed, so the link stands in its tenant's (R37).
        body = canonical.dumps({"run": str(old.pk), "because": because, **link})
        restarted = Draft(kind="run.restarted", step=old.step, body=body)
        audit.append_to_tenant(old.tenant_id, [restarted], now=now, actor=by)
        return
    _abandon(old, abandon, by=by, now=now)
    assignments.close(old.pk, to=AssignmentState.RELEASED, outcome="superseded", now=now)
    ending.end(
        old,
        to=RunState.SUPERSEDED,
        because=f"Restarted as run {new.pk}: {because}",
        actor=by,
        now=now,
        fence=fence,
        facts=link,
    )


def _abandon(old: Run, keys: Collection[str], *, by: str, now: datetime) -> None:
    """A person has said that nobody will ever know what became of these calls (R5)."""
    states = [state.value for state in (CallState.INTENDED, CallState.SENT, CallState.AMBIGUOUS)]
    for call in Call.objects.filter(run=old, key__in=list(keys), state__in=states).order_by("id"):
        Call.objects.filter(pk=call.pk).update(
            state=CallState.ABANDONED.value,
            settled_at=now,
            source=f"person:{by}"[:300],
            fence=old.fence,
        )
        body = {"key": call.key, "effect": call.effect, "resource": call.resource, "by": by}
        told = Draft(kind="call.abandoned", step=call.step, body=canonical.dumps(body))
        transitions.note(old, events=[told], now=now, actor=by)


def request(new: Run, old: Run, *, because: str, by: str, now: datetime) -> None:
    """A worker holds the old run: whoever holds its fence makes the move at its next checkpoint."""
    body = canonical.dumps({"because": because, "restarted_as": str(new.pk)})
    transitions.note(
        old,
        events=[Draft(kind="run.supersede_requested", step=old.step, body=body)],
        now=now,
        actor=by,
        supersede_requested=True,
        cancel_requested=True,
        reason=because,
    )


def until_it_lets_go(old: Run) -> WaitDraft:
    """What the new run waits for meanwhile."""
    return until_they_let_go([old])


def until_they_let_go(olds: Sequence[Run], *, besides: Sequence[Run] = ()) -> WaitDraft:
    """The same of several that are at work; the place of those `besides` is taken at once."""
    ids = [str(old.pk) for old in olds]
    letting = f"runs {ids[0]} and {len(ids) - 1} more have" if len(ids) > 1 else f"run {ids[0]} has"
    return WaitDraft(
        name=f"{letting} let go",
        kind=WaitKind.CAPACITY,
        asks=canonical.dumps({LETS_GO: [*ids, *(str(old.pk) for old in besides)]}),
    )


def question(
    old: Run,
    *,
    checkpoint: int | None,
    because: str,
    abandon: Sequence[str],
    changed_from: str = "",
) -> WaitDraft | None:
    """What a person is asked first; None when nothing that cannot be undone would happen twice."""
    preview = restart_preview(old, checkpoint=checkpoint)
    digest = succession.digest_of(preview)
    if not preview.asks_first or digest == changed_from:
        return None
    asked = succession.before_restart(
        preview,
        old=str(old.pk),
        reference=old.reference,
        because=because,
        abandon=abandon,
        changed=bool(changed_from),
    )
    name = f"restart {digest[:16]}"
    return WaitDraft(name=name, kind=WaitKind.DECISION, asks=canonical.dumps(asked))


def approved(
    new: Run, wait: Wait, *, closed: Sequence[Draft], by: str, because: str, now: datetime
) -> None:
    """A person agrees that effects happen twice; what has changed since is asked once more."""
    evidence = canonical.loads(wait.subject)["evidence"]
    # The new run is held already. Nobody who holds the old one takes this one too before the
    # request below is committed, so this order cannot meet its reverse (R18).
    old = transitions.lock(new.restart_of_id) if new.restart_of_id else new
    said, abandon = str(evidence["because"]), list(evidence["abandon"])
    again = question(
        old,
        checkpoint=new.restart_from,
        because=said,
        abandon=abandon,
        changed_from=evidence["digest"],
    )
    if again is not None:
        birth.stand_ready(new, again, now=now, by=by, closed=closed)
    elif is_being_cancelled(old):
        transitions.note(new, events=closed, now=now, actor=by)
        because = f"Not restarted: run {old.pk} is being cancelled. Restart it when it has ended."
        ending.end(new, to=RunState.CANCELLED, because=because, actor=by, now=now)
    elif old.state == RunState.RUNNING:
        request(new, old, because=said, by=by, now=now)
        birth.stand_ready(new, until_it_lets_go(old), now=now, by=by, closed=closed)
    elif left := set(unsettled_keys(old)) - set(abandon):
        transitions.note(new, events=closed, now=now, actor=by)
        ending.end(new, to=RunState.CANCELLED, because=_unknown(left), actor=by, now=now)
    else:
        take_place(new, old, because=said, by=by, now=now, abandon=abandon)
        _begin(new, closed, by=by, because=because, now=now)


def _begin(new: Run, events: Sequence[Draft], *, by: str, because: str, now: datetime) -> None:
    transitions.move(new, to=RunState.QUEUED, events=events, now=now, actor=by, reason="")
    assignments.place(new, reason=because[:300], now=now)


def _unknown(keys: Collection[str]) -> str:
    return (
        f"Not restarted: nobody knows what became of {', '.join(sorted(keys)[:5])}. Settle or "
        "abandon it, then restart again."
    )


def stop(old: Run, *, actor: str, now: datetime, fence: int = 0) -> bool:
    """Make the requested move on a run whose worker has stopped; False when it cannot be made.

    Then the old run stands still with a reason that says why, and the new one never begins (R5).
    """
    # Not one about which a person is asked still: whoever answers has locked it before the old one.
    new = ready_restart(old.pk)
    new = transitions.lock(new.pk) if new else None
    ready = new if new is not None and new.state == RunState.WAITING else None
    unknown = _unsettled_now(old)
    if ready is not None and not unknown:
        take_place(ready, old, because=old.reason, by=actor, now=now, fence=fence)
        if not still_held(ready, besides=old):
            _let_begin(ready, old, by=actor, now=now)
        return True
    because = _unknown(unknown) if unknown else _called_off(old)
    if ready is not None:
        _go_without(ready, old, because=because, by=actor, now=now)
    Run.objects.filter(pk=old.pk).update(cancel_requested=False, supersede_requested=False)
    old.cancel_requested = old.supersede_requested = False
    old.reason = because
    return False


def _go_without(new: Run, old: Run, *, because: str, by: str, now: datetime) -> None:
    """The old run stays: the new one is called off, unless others have made room for it already."""
    if still_held(new, besides=old):
        return
    if have_made_room(new):
        _let_begin(new, old, by=by, now=now)
        return
    replaced.given_up(new, because=because)
    ending.end(new, to=RunState.CANCELLED, because=because, actor=by, now=now)


def _called_off(old: Run) -> str:
    asked = waiting_restart(old.pk)
    if asked is None:
        return "Its restart was called off."
    return f"A person decides whether run {asked.pk} takes its place."


def _unsettled_now(old: Run) -> list[str]:
    """Whoever held it has let go, so an intended call is as ambiguous as any (R7)."""
    states = [state.value for state in (CallState.INTENDED, CallState.SENT, CallState.AMBIGUOUS)]
    rows = Call.objects.filter(run=old, state__in=states, unsent=False)
    return list(rows.values_list("key", flat=True))


def _let_begin(new: Run, old: Run, *, by: str, now: datetime) -> None:
    """Nobody whose place it takes is at work any more; `old` was the last."""
    text = canonical.dumps({"superseded": str(old.pk)})
    wait = Wait.objects.get(run=new, state=WaitState.OPEN.value)
    Wait.objects.filter(pk=wait.pk).update(
        state=WaitState.RESOLVED.value,
        answer=text,
        answer_digest=canonical.digest(text),
        closed_by=by,
        closed_at=now,
        fence=new.fence,
    )
    body = {"wait": wait.name, "kind": wait.kind, "state": WaitState.RESOLVED.value, "by": by}
    closed = Draft(kind="wait.closed", step=wait.step, body=canonical.dumps(body))
    _begin(new, [closed], by=by, because=f"run {old.pk} has let go", now=now)


@commits("restart_placed", when=bool)
def call_off(new_id: UUID) -> bool:
    """The old run has ended by itself before it could be superseded: the new one never begins.

    Unless a schedule started it, which is due whether or not there was anything to replace; but not
    beside a run that had to be replaced and stands open still, with a call in doubt (R5).
    """
    with transaction.atomic():
        new, now = transitions.lock(new_id), db_now()
        old = Run.objects.filter(restarts=new).first()
        wait = Wait.objects.filter(run=new, state=WaitState.OPEN.value).first()
        if old is None or wait is None or wait.kind != WaitKind.CAPACITY:
            return False
        if old.state == RunState.RUNNING or still_held(new, besides=old):
            return False
        if RunState(old.state) not in FINAL and len(predecessors(new)) < SEVERAL:
            return False
        stays = still_open(new)
        because = (
            f"Run {stays.pk} is {stays.state}, and was not superseded."
            if stays
            else f"Run {old.pk} ended as {old.state} before it could be superseded."
        )
        if have_made_room(new) or (not stays and replaced.nothing(new, because=because)):
            _let_begin(new, old, by="watch", now=now)
            return True
        replaced.given_up(new, because=because)
        ending.end(new, to=RunState.CANCELLED, because=because, actor="watch", now=now)
    return True
