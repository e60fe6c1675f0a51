"""What a person is asked about a call of which nobody knows whether it happened."""

from typing import Any

from runs.definition.effects import Effect
from runs.engine.envelope import as_shown
from runs.engine.session import Attempt, Session
from runs.queries import resume
from runs.queries.stopped import stopped_at
from runs.rules import asks
from runs.rules.calls import CallRecord
from runs.rules.surfacing import ways_to_redo


def question_of(
    session: Session,
    attempt: Attempt,
    effect: Effect,
    record: CallRecord,
    *,
    why: str,
    evidence: Any,
) -> asks.Ask:
    """With every way on, and what each of them would do."""
    return asks.reconcile(
        step=attempt.begun.key,
        call=as_shown(record),
        why=why,
        evidence={**(evidence or {}), **_evidence(session, record)},
        irreversible=effect.irreversible,
        undone_by=effect.undo.name if effect.undo else "",
        redo=ways_to_redo(stopped_at(session.fence.run_id), abandons=record.key),
        redact=effect.redact,
    )


def _evidence(session: Session, record: CallRecord) -> dict[str, Any]:
    shown: dict[str, Any] = {"error": record.error, "sent_at": record.sent_at.isoformat()}
    if late := resume.late_answers(session.fence.tenant_id, key=record.key):
        shown["late_answers"] = late
    return shown
