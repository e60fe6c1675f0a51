"""A claim is never lost and never of the wrong plan, whatever becomes of the worker or of the answer."""

from typing import Any

import pytest
from django.db import OperationalError

from runs.engine import executor
from runs.engine.session import Following
from runs.ledger import assignments, lifecycle, takeover
from runs.queries.verify import violations
from tests.durability.fences import a_worker_row
from tests.effects.shop import one_step
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_desk")]


def test_a_worker_whose_fence_is_lost_when_it_leaves_goes_on_with_other_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def body(run: Any) -> None:
        for page in run.pages([1], size=1):
            with run.checkpoint(cursor=page.end):
                pass

    handed_back = lifecycle.hand_back

    def too_late(fence: Any, **more: Any) -> None:
        takeover.take_over(fence.worker_id, because="tests")
        handed_back(fence, **more)

    with one_step(body) as errand:
        first, second = runs.a_run(errand), runs.a_run(errand)
        monkeypatch.setattr(lifecycle, "hand_back", too_late)
        reasons = iter(["it shall go"])
        with runs.a_worker() as worker:
            for run_id in (first, second):
                claimed = assignments.claim(worker_id=worker.id, plans=worker.plans)
                assert claimed is not None
                executor.execute(
                    claimed,
                    keeper=worker.keeper,
                    stop_at_boundary=lambda: next(reasons, ""),
                    following=Following(plans=worker.plans, is_wanted=lambda: False),
                )
                assert runs.state_of(run_id) in {"queued", "succeeded"}

    assert (runs.state_of(first), runs.state_of(second)) == ("queued", "succeeded")
    assert violations() == []


def test_a_claim_whose_answer_was_lost_is_placed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commit arrived, its answer did not: the worker holds a run and does not know it."""
    claim, lost = assignments.claim, iter([True])

    def claims(**more: Any) -> Any:
        claimed = claim(**more)
        if next(lost, False):
            raise OperationalError("server closed the connection unexpectedly")
        return claimed

    with one_step(lambda run: None) as errand:
        run_id = runs.a_run(errand)
        monkeypatch.setattr(assignments, "claim", claims)
        with runs.a_worker() as worker:
            worker.drain_placed(until=float("inf"), stop=lambda: False)
            assert runs.state_of(run_id) == "queued"
            worker.drain_placed(until=float("inf"), stop=lambda: False)

    assert runs.state_of(run_id) == "succeeded"
    assert violations([run_id]) == []


def test_a_worker_claims_only_plans_that_its_code_matches() -> None:
    """I9"""
    with one_step(lambda run: None) as errand:
        runs.a_run(errand)

        assert assignments.claim(worker_id=a_worker_row(), plans=["another"]) is None
        assert assignments.claim(worker_id=a_worker_row(), plans=[]) is None
