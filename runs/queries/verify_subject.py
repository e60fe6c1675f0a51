"""One run as the checks look at it: its row, its plan, and the short lists that belong to it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from runs.models import Assignment, AuditEvent, Run, Step, Wait
from runs.queries.plans import plan_by_hash
from runs.rules import canonical
from runs.rules.plan import Plan, PlanStep
from runs.rules.states import FINAL, RunState
from runs.rules.violations import Violation

AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What may be long (events, calls, planned calls) is not here; each check streams it.

    `plans` are all that the run has ever had, the present one last.
    """

    run: Run
    plan: Plan
    steps: Sequence[Step]
    waits: Sequence[Wait]
    plans: Sequence[Plan]
    assignments: Sequence[Assignment]

    @property
    def state(self) -> RunState:
        return RunState(self.run.state)

    @property
    def final(self) -> bool:
        return self.state in FINAL

    @property
    def current(self) -> list[Step]:
        """The steps that no replay has superseded, in the plan's order."""
        return [step for step in self.steps if not step.superseded]

    def is_superseded(self, wait: Wait) -> bool:
        """Whether it was opened in a generation of its step that a replay has superseded."""
        return any(
            (step.key, step.generation) == (wait.step, wait.generation)
            for step in self.steps
            if step.superseded
        )

    def planned(self, key: str) -> PlanStep | None:
        return next((step for step in self.plan.steps if step.key == key), None)

    def ever_planned(self, key: str) -> list[PlanStep]:
        """The step of this key in each plan that the run has had."""
        return [step for plan in self.plans for step in plan.steps if step.key == key]

    def violates(self, invariant: str, text: str) -> Violation:
        return Violation(invariant=invariant, run=str(self.run.pk), text=text)


Check = Callable[[Subject], Iterator[Violation]]


def subject_of(run_id: UUID) -> Subject | None:
    run = Run.objects.select_related("worker").filter(pk=run_id).first()
    if run is None:
        return None
    return Subject(
        run=run,
        plans=_plans(run),
        plan=plan_by_hash(run.plan_id),
        steps=list(Step.objects.filter(run=run).order_by("ordinal", "generation")),
        waits=list(Wait.objects.filter(run=run).order_by("id")),
        assignments=list(Assignment.objects.filter(run=run).order_by("id")),
    )


def _plans(run: Run) -> list[Plan]:
    events = AuditEvent.objects.filter(run=run, kind="run.version_changed").exclude(body="")
    changes = [read(body) for body in events.order_by("seq").values_list("body", flat=True)]
    return [plan_by_hash(one["from"]["plan"]) for one in changes] + [plan_by_hash(run.plan_id)]


def unmoved(subject: Subject) -> bool:
    """Whether the run has not been written since it was read: every write moves one of these."""
    seen = subject.run
    return Run.objects.filter(
        pk=seen.pk,
        state=seen.state,
        seq=seen.seq,
        fence=seen.fence,
        checkpoint=seen.checkpoint,
        updated_at=seen.updated_at,
    ).exists()


def is_digest_of(text: str | None, digest: str) -> bool:
    """Whether this text makes this digest; no text makes none."""
    return digest == ("" if text is None else canonical.digest(text))


def read(text: str) -> Any:
    """Stored JSON; what cannot be read is nothing."""
    try:
        return canonical.loads(text)
    except ValueError:
        return None
