"""A person notes something on a run, or withdraws what they noted; the run itself stays as it is."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from runs.ledger import audit, transitions
from runs.ledger.commits import commits
from runs.models import Note, Run
from runs.queries.clock import db_now
from runs.queries.visibility import visible_runs
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.notes import noted
from runs.rules.policy import Actor, Verb, require
from runs.rules.states import FINAL


class NotYourNote(Exception):
    """There is no such note of this actor that stands; only its author may withdraw one."""


@commits("note_committed")
def note(actor: Actor, run_id: UUID, *, text: str) -> Note:
    """Keep what an operator has to say about a run, whatever state it is in.

    Raises NotAllowed, NoSuchRun, NoteRefused.
    """
    with transaction.atomic():
        run, said, now = _held(actor, run_id), noted(text), db_now()
        kept = Note.objects.create(
            tenant_id=run.tenant_id, run=run, text=said, by=actor.name, at=now
        )
        _tell(run, "run.noted", {"note": kept.pk, "text": said}, by=actor, now=now)
    return kept


@commits("note_committed")
def withdraw(actor: Actor, run_id: UUID, note_id: int) -> None:
    """Its author takes a note back: that it stood there is still told, its text only by the audit.

    Raises NotAllowed, NoSuchRun, NotYourNote.
    """
    with transaction.atomic():
        run, now = _held(actor, run_id), db_now()
        mine = Note.objects.filter(pk=note_id, run=run, by=actor.name, withdrawn_at=None)
        if not mine.update(withdrawn_at=now):
            raise NotYourNote("You have no note of this number on this run that stands.")
        _tell(run, "run.note_withdrawn", {"note": note_id}, by=actor, now=now)


def _held(actor: Actor, run_id: UUID) -> Run:
    require(actor, Verb.OPERATE)
    if not visible_runs(actor).filter(pk=run_id).exists():
        raise transitions.NoSuchRun(f"There is no run {run_id}.")
    return transitions.lock(run_id)


def _tell(run: Run, kind: str, body: dict[str, Any], *, by: Actor, now: datetime) -> None:
    """In the run's chain; behind its end in its tenant's (R37). Since when it stands so stays."""
    if run.state in FINAL:
        told = Draft(kind=kind, body=canonical.dumps({"run": str(run.pk), **body}))
        audit.append_to_tenant(run.tenant_id, [told], now=now, actor=by.name)
        return
    event = Draft(kind=kind, step=run.step, body=canonical.dumps(body))
    audit.append(run, [event], now=now, actor=by.name)
    Run.objects.filter(pk=run.pk).update(seq=run.seq, head=run.head)
