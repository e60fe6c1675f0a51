"""A worker looks after runs whose plan nobody has the code of any more: it takes them along, or asks."""

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from runs.conf import CHECKPOINT_SCHEMA
from runs.definition import registry
from runs.definition.migrating import Migration, Position
from runs.engine.limits import StepLimit, TimeIsUp
from runs.ledger import versions
from runs.ledger.plans import PlanChanged
from runs.queries import versions as queries
from runs.queries.plans import stored_hash
from runs.queries.versions import Seen
from runs.rules import version_asks
from runs.rules.courses import Course, Verdict, course_of, standing_for_another_plan
from runs.rules.past import Past
from runs.rules.versions import Code, code_of

if TYPE_CHECKING:
    from uuid import UUID

    from runs.models import Run

log = logging.getLogger(__name__)

# A migration only computes; the engine waits this long for it.
MIGRATION_SECONDS = 10.0
AT_ONCE = 50
LOOK_EVERY = 1.0


class MigrationOverdue(RuntimeError):
    """A migration did not return in time; it may only compute, from what it is given."""


def code_here() -> Code:
    """What this process can execute."""
    return code_of(registry.all_workflows(), schema=CHECKPOINT_SCHEMA)


class Caretaker:
    """One worker's care for runs that nobody can execute; what stands is looked at once."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self._standing: dict[UUID, int] = {}
        self._looked = time.monotonic()

    def is_due(self) -> bool:
        """A look takes its time; nobody looks with a run in hand that nobody works on."""
        return time.monotonic() - self._looked >= LOOK_EVERY

    def look_when_due(self) -> None:
        """At most once a second; whatever is wrong with one look, the worker goes on."""
        if not self.is_due():
            return
        self._looked = time.monotonic()
        _safely(self.look)

    def look_at_start(self) -> None:
        """A worker has come whose code somebody may be waiting for."""
        _safely(self.look_for_questions)

    def look(self) -> int:
        """How many runs were taken along, asked about, or need not ask any more."""
        found = [
            seen
            for seen in queries.stranded(self.code.hashes)
            if self._standing.get(seen.id) != seen.seq
        ]
        return sum(self._settle(seen) for seen in found[:AT_ONCE])

    def look_for_questions(self) -> int:
        """Let runs go on that ask about a plan that this code has."""
        because = "the code of its version is back"
        asking = queries.asking(self.code.hashes)
        return sum(versions.need_not_ask(seen, because=because) for seen in asking)

    def _settle(self, seen: Seen) -> bool:
        verdict = self._verdict(seen)
        if verdict is not None and verdict.course in (Course.STANDS, Course.STAYS):
            self._standing[seen.id] = seen.seq
            return False
        return verdict is not None

    def _verdict(self, seen: Seen) -> Verdict | None:
        run = queries.open_runs().filter(pk=seen.id).first()
        if run is None or run.seq != seen.seq:
            return None
        return settle(run, self.code)


def _safely(look: Callable[[], int]) -> None:
    # The rim: a run that cannot be looked after must not keep a worker from the others.
    try:
        look()
    except Exception:
        log.exception("versions.look_failed")


def settle(run: "Run", code: Code) -> Verdict:
    """Do with a queued run what its verdict says, in one transaction."""
    past = queries.past_of(run)
    verdict = _verdict_of(run, past, code)
    said = {"run": str(run.pk), "course": verdict.course.value, "reason": verdict.reason}
    log.info("run.version", extra=said)
    try:
        if verdict.carry is not None:
            by = verdict.by or versions.ACTOR
            versions.carry_over(past, verdict.carry, because=verdict.sentence, by=by)
        elif verdict.course is Course.ASKS:
            versions.ask(past, version_asks.asked(past, verdict))
    except PlanChanged:
        # Somebody started a run of that version with another plan just now.
        assert verdict.to is not None  # noqa: S101
        return standing_for_another_plan(verdict.to.version)
    return verdict


def verdict_of(run: "Run", code: Code) -> Verdict:
    """What this code would do about this run, without doing it."""
    return _verdict_of(run, queries.past_of(run), code)


def _verdict_of(run: "Run", past: Past, code: Code) -> Verdict:
    verdict = course_of(past, code, choice=queries.choice_of(run), attempt=tried)
    if verdict.to is not None:
        stored = stored_hash(verdict.to.name, verdict.to.version)
        if stored not in (None, verdict.to.hash):
            return standing_for_another_plan(verdict.to.version)
    return verdict


def tried(migration: Migration, facts: dict[str, Any], at: Position) -> object:
    """Author's code, under a limit of its own."""
    limit = StepLimit(MIGRATION_SECONDS)
    try:
        with limit.running():
            return migration(facts, at)
    except TimeIsUp as late:
        raise MigrationOverdue(
            f"it did not return within {MIGRATION_SECONDS:.0f} s; a migration only computes"
        ) from late
