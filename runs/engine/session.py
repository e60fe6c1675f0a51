"""A worker's view of the run it holds, while it holds it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from runs.conf import CHECKPOINT_SCHEMA
from runs.definition import registry
from runs.definition.effects import Effect
from runs.definition.step import StepDeclaration
from runs.definition.workflow import Workflow
from runs.queries import resume
from runs.rules import canonical
from runs.rules.answers import Answered
from runs.rules.calls import CallRecord
from runs.rules.claims import Claimed, StepBegun
from runs.rules.courses import newer_schema
from runs.rules.fence import Fence, FenceLost
from runs.rules.plan import Plan, PlanStep, plan_of
from runs.rules.written import StepPlace, Written


class Keeper(Protocol):
    """Whoever keeps the lease of this worker."""

    def trusts_its_lease(self) -> bool: ...

    def wait_until_trusted(self) -> bool: ...


@dataclass(slots=True, kw_only=True)
class Following:
    """The run that a worker holds next: taken in the commit that ends the one before."""

    plans: Sequence[str]
    is_wanted: Callable[[], bool]
    taken: Claimed | None = None
    found_none: bool = False

    def found(self, taken: Claimed | None) -> None:
        """What the commit has brought that was asked for one."""
        self.taken, self.found_none = taken, taken is None

    def take(self) -> Claimed | None:
        """Into the caller's hands, once."""
        taken, self.taken = self.taken, None
        return taken


@dataclass(slots=True, kw_only=True)
class Attempt:
    """What one entry of a step's body has found and made.

    `page` is where the page begins that the body is working on, None outside of pages.
    """

    begun: StepBegun
    declared: StepDeclaration
    planned: PlanStep
    answers: dict[str, Answered]
    cursor_ordinal: int
    cursor_token: str
    facts: dict[str, Any] = field(default_factory=dict)
    named_keys: set[str] = field(default_factory=set)
    waits_named: set[str] = field(default_factory=set)
    plans_made: dict[str, int] = field(default_factory=dict)
    page: int | None = None
    calls: dict[tuple[str, str], CallRecord] | None = None
    judgements: dict[str, str] | None = None

    @property
    def place(self) -> StepPlace:
        return StepPlace(
            key=self.begun.key,
            scope=self.begun.scope,
            generation=self.begun.generation,
            attempt=self.begun.attempt,
        )

    def effect(self, name: str) -> Effect | None:
        """The declared effect of this name."""
        return next((each for each in self.declared.effects if each.name == name), None)


@dataclass(slots=True, kw_only=True)
class Session:
    """One claim: the run, its plan and facts, and the buffer of its current step.

    `is_fresh` when nothing came before it: then its run has no waits, and `done` holds every step
    that is finished, as the audit line tells them.
    `left` is how the body was told to leave; whoever swallows it is told again (R13).
    `ends_at` is when the run's deadline is over, by the monotonic clock.
    """

    claimed: Claimed
    workflow: Workflow
    plan: Plan
    keeper: Keeper
    facts: dict[str, Any]
    begun: StepBegun
    keys_count: int
    keys_digest: str
    stop_at_boundary: Callable[[], str]
    following: Following
    is_fresh: bool
    written: Written = field(default_factory=Written)
    left: BaseException | None = None
    done: list[dict[str, Any]] = field(default_factory=list)
    ends_at: float | None = None

    @property
    def fence(self) -> Fence:
        return self.claimed.fence

    @property
    def claimed_with_a_word(self) -> bool:
        """Whether somebody may have said what to do first, before the step was ever entered."""
        return self.begun is self.claimed.step and self.claimed.reason != "start"

    def hold_lease(self) -> None:
        """Wait out a moment of doubt about the lease; raises FenceLost when it is gone (R1)."""
        if not self.keeper.trusts_its_lease() and not self.keeper.wait_until_trusted():
            raise FenceLost(self.fence)


class NewerCheckpoint(RuntimeError):
    """The run's last checkpoint has a form that this release cannot read; a newer one wrote it."""


def open_session(
    claimed: Claimed,
    *,
    keeper: Keeper,
    stop_at_boundary: Callable[[], str],
    following: Following,
) -> Session:
    """Load what the run has come to; a first claim needs no query at all."""
    cls = registry.get(claimed.workflow, claimed.version)
    run_id = claimed.fence.run_id
    facts = canonical.loads(claimed.input)
    if claimed.step.ordinal > 1:
        facts.update(resume.facts_of(run_id))
    reached = resume.reached(run_id, claimed.checkpoint) if claimed.checkpoint else resume.Reached()
    if reached.schema > CHECKPOINT_SCHEMA:
        raise NewerCheckpoint(newer_schema(reached.schema, CHECKPOINT_SCHEMA))
    return Session(
        claimed=claimed,
        workflow=cls(),
        plan=plan_of(cls),
        keeper=keeper,
        facts=facts,
        begun=claimed.step,
        keys_count=reached.keys_count,
        keys_digest=reached.keys_digest,
        stop_at_boundary=stop_at_boundary,
        following=following,
        is_fresh=claimed.reason == "start" and claimed.step.attempt == 1,
    )


def begin_attempt(session: Session) -> Attempt:
    """Prepare the entry of the current step's body."""
    begun = session.begun
    declared = next(each for each in session.workflow.steps if each.key == begun.key)
    may_be_answered = begun.attempt > 1 or session.claimed_with_a_word
    answers = (
        resume.answers_of(session.fence.run_id, step=begun.key, generation=begun.generation)
        if may_be_answered
        else {}
    )
    return Attempt(
        begun=begun,
        declared=declared,
        planned=session.plan.step(begun.key),
        answers=answers,
        cursor_ordinal=begun.cursor_ordinal,
        cursor_token=begun.cursor_token,
    )
