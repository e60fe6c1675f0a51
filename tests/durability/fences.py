"""A run in the hands of a worker of the test's own, and what it can still write after it lost it."""

from dataclasses import dataclass
from uuid import UUID, uuid4

from runs.engine import identity
from runs.engine.worker import known_plans
from runs.ledger import assignments, effects, workers
from runs.rules import canonical
from runs.rules.calls import CallDraft, CallRecord
from runs.rules.claims import Claimed
from runs.rules.fence import Fence
from runs.rules.keys import idempotency_key
from runs.rules.written import StepPlace, Written
from tests.support import runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A claim, as the worker that has it knows it."""

    claimed: Claimed

    @property
    def fence(self) -> Fence:
        return self.claimed.fence

    @property
    def run_id(self) -> UUID:
        return self.claimed.fence.run_id

    @property
    def place(self) -> StepPlace:
        begun = self.claimed.step
        return StepPlace(
            key=begun.key, scope=begun.scope, generation=begun.generation, attempt=begun.attempt
        )

    def a_call(self, effect: str, *, resource: str = "it") -> CallRecord:
        """An intended one, whose result nobody knows."""
        request = canonical.dumps({"resource": resource})
        draft = CallDraft(
            key=idempotency_key(
                run_id=self.run_id,
                scope=self.place.scope,
                effect=effect,
                resource=resource,
                request_text=request,
            ),
            effect=effect,
            resource=resource,
            request=request,
            request_digest=canonical.digest(request),
            irreversible=True,
            authority="waiver:The receiver is a counter made for this example.",
        )
        return effects.intend(self.fence, draft, place=self.place, written=Written())


def a_worker_row() -> UUID:
    worker_id = uuid4()
    workers.enlist(worker_id, identity.of_this_process(), cluster_pid=0, release="")
    return worker_id


def a_held_run(workflow: str, **given: object) -> Held:
    """Claimed by a worker that is this process and does nothing."""
    run_id = runs.a_run(workflow, given)
    return claimed_by(a_worker_row(), run_id)


def claimed_by(worker_id: UUID, run_id: UUID) -> Held:
    claimed = assignments.claim(worker_id=worker_id, plans=known_plans())
    assert claimed is not None
    assert claimed.fence.run_id == run_id
    return Held(claimed=claimed)
