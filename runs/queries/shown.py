"""A run as commands and programs are told of it: plain JSON, without payloads."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from runs.models import AuditEvent, Note, Run, Step
from runs.queries.limits import breaches_of
from runs.queries.lineage import restarts_of
from runs.queries.notes import MOST, Noted
from runs.queries.plans import plan_by_hash
from runs.queries.tried import tried
from runs.queries.version_notes import notes_of
from runs.queries.went_on import assignments_of, went_on
from runs.queries.why import why_of
from runs.rules import canonical
from runs.rules.plan import PlanStep
from runs.rules.states import StepState
from runs.rules.why import Why

Shown = dict[str, Any]


def run_shown(run: Run) -> Shown:
    """Who and what it is, why it stands where it stands, and each of its steps."""
    rows = {step.key: step for step in Step.objects.filter(run=run, superseded=False)}
    return {
        **run_listed(run, why_of(run)),
        "plan_hash": run.plan_id,
        "tenant": run.tenant.slug,
        "labels": run.labels,
        "started_by": run.started_by,
        "warnings": notes_of(run).warnings,
        "generation": run.generation,
        **lineage_shown(run),
        "notes": notes_shown(run),
        **moves_shown(run),
        "steps": [_step(planned, rows) for planned in plan_by_hash(run.plan_id).steps],
    }


def run_listed(run: Run, why: Why) -> Shown:
    """One line of a list."""
    return {
        "id": str(run.pk),
        "reference": run.reference,
        "workflow": run.workflow,
        "version": run.version,
        "state": run.state,
        "step": run.step,
        "reason": run.reason,
        "created_at": moment(run.created_at),
        "started_at": moment(run.started_at),
        "ended_at": moment(run.ended_at),
        "why": why_shown(why),
    }


def notes_shown(run: Run) -> list[Shown]:
    """What people have noted on it, the newest first; of what they withdrew only that."""
    rows = Note.objects.filter(run=run).order_by("-id")[:MOST]
    return [Noted(note=note, mine=False).told() for note in rows]


def lineage_shown(run: Run) -> Shown:
    """What it was begun in place of, and what was begun in its."""
    return {
        "restart_of": str(run.restart_of_id) if run.restart_of_id else None,
        "restarted_as": [str(one.pk) for one in restarts_of(run.pk)],
    }


def moves_shown(run: Run) -> Shown:
    """How often it was tried, and why it went on each time."""
    lines = went_on(run, assignments_of(run))
    return {
        "tried": tried(run.pk).told(),
        "went_on": [{**asdict(line), "at": moment(line.at)} for line in lines],
    }


def why_shown(why: Why) -> Shown:
    return {
        "sentence": why.sentence,
        "since": moment(why.since),
        "next": why.next,
        "next_at": moment(why.next_at),
    }


def limits_shown(run: Run) -> list[Shown]:
    """The newest limits that it has come up against: which, for how long, who was slow, what then."""
    return [
        {**each.body, "at": moment(each.at), "step": each.step, "sentence": each.sentence}
        for each in breaches_of(run.pk)
    ]


def moment(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _step(planned: PlanStep, rows: Mapping[str, Step]) -> Shown:
    """A step that has not begun has no row; it is pending all the same."""
    row = rows.get(planned.key) or Step(key=planned.key, state=StepState.PENDING.value, fence=0)
    return {
        "key": planned.key,
        "ordinal": planned.ordinal,
        "state": row.state,
        "generation": row.generation,
        "attempt": row.attempt,
        "failures": row.failures,
        "crashes": row.crashes,
        "done": row.cursor_ordinal if row.progress_done is None else row.progress_done,
        "total": row.progress_total,
        "started_at": moment(row.started_at),
        "ended_at": moment(row.ended_at),
        "error": row.error,
    }


def last_audit_line(run: Run) -> Shown | None:
    """The closing record of the run, or of its last park for a person."""
    lines = AuditEvent.objects.filter(run=run, kind="audit.line").order_by("-seq")
    body = lines.values_list("body", flat=True).first()
    return canonical.loads(body) if body else None


def events_shown(events: Sequence[Shown]) -> list[Shown]:
    """The links of a chain with their bodies read; an erased body is nothing."""
    return [
        {**event, "body": canonical.loads(event["body"]) if event["body"] else None}
        for event in events
    ]
