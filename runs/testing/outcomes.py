"""How far a run has come by now, as its author's test sees it."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from runs.queries import audit_line, resume, visibility
from runs.queries.why import why_of
from runs.rules.policy import Actor, local_operator

WHO = "tests"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How far a run came: its state, the facts it wrote, its steps, and the calls it made."""

    id: UUID
    state: str
    reason: str
    why: str
    facts: dict[str, Any]
    steps: list[dict[str, Any]]
    calls: list[dict[str, Any]]


def tester() -> Actor:
    """Who acts when a test starts or answers something."""
    return local_operator(WHO)


def outcome_of(run_id: UUID) -> Outcome:
    """How far a run has come by now."""
    run = visibility.visible_runs(tester()).get(pk=run_id)
    told = audit_line.steps_calls_waits(run_id)
    return Outcome(
        id=run_id,
        state=run.state,
        reason=run.reason,
        why=why_of(run).sentence,
        facts=resume.facts_of(run_id),
        steps=told["steps"],
        calls=told["calls"],
    )
