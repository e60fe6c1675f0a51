"""How often a run was tried, each way counted apart: attempts, retries, resumes, crashes."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from uuid import UUID

from runs.models import AuditEvent, Step, Wait
from runs.rules.states import WaitKind

RESUMED, TAKEN_OVER = "run.resumed", "run.taken_over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """Entries of bodies; pauses after an error; resumes by people; deaths of workers.

    `interruptions` are workers that went for another reason than the run: they spend no budget.
    """

    attempts: int
    retries: int
    resumes: int
    crashes: int
    interruptions: int

    def told(self) -> dict[str, int]:
        return asdict(self)


def tried(run_id: UUID) -> Tried:
    """All counts of a run."""
    steps = Step.objects.filter(run_id=run_id).only("attempt")
    waits = Wait.objects.filter(run_id=run_id, kind=WaitKind.RETRY.value).only("kind")
    return tried_with(run_id, steps=steps, waits=waits)


def tried_with(run_id: UUID, *, steps: Iterable[Step], waits: Iterable[Wait]) -> Tried:
    """The same where a page has read its steps and waits already: one query."""
    events = AuditEvent.objects.filter(run_id=run_id, kind__in=[RESUMED, TAKEN_OVER])
    told = list(events.values_list("kind", "body"))
    crashes = sum(kind == TAKEN_OVER and _crashed(body) for kind, body in told)
    resumes = sum(kind == RESUMED for kind, _ in told)
    return Tried(
        attempts=sum(step.attempt for step in steps),
        retries=sum(wait.kind == WaitKind.RETRY for wait in waits),
        resumes=resumes,
        crashes=crashes,
        interruptions=len(told) - resumes - crashes,
    )


def _crashed(body: str) -> bool:
    return bool(json.loads(body).get("crashed", True)) if body else True
