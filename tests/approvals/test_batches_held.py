"""A decision of a batch whose run somebody holds: it is left for later, and nothing else waits for it."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from approvals.ledger import batching
from approvals.models import Batch, BatchItem, Decision
from approvals.tasks import BATCHES
from runs.engine import clock_duties
from runs.engine.clockwork import Clockwork
from runs.engine.ordered import Ordered
from runs.engine.watch import Watch
from runs.ledger import briefly
from runs.models import Tick
from runs.queries.verify import violations
from tests.approvals.builders import a_decision, a_person, acting, again
from tests.support.held import held
from tests.support.waiting import PATIENCE, eventually

pytestmark = pytest.mark.django_db(transaction=True)

# Unlike pg_stat_activity it is read anew each time, also inside a transaction.
WAITS = "SELECT count(*) FROM pg_locks WHERE NOT granted"


def a_batch_of_two() -> tuple[Decision, Decision]:
    first, second = (a_decision("refunds") for _ in range(2))
    shown = {each.pk: each.digest for each in (first, second)}
    person = acting(a_person())
    batching.begin(person, shown=shown, option="approve", fields={}, comment="")
    return first, second


def somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(WAITS)
        return bool(cursor.fetchone()[0])


def test_it_keeps_no_other_of_the_batch_from_its_turn_and_is_answered_when_it_is_free() -> None:
    first, second = a_batch_of_two()
    answers = Ordered(BATCHES)

    with held(first.run_id):
        # One pass may end at what is held; the next one begins behind it.
        answers.go_round()
        answers.go_round()

        assert [again(each).state for each in (first, second)] == ["open", "approved"]
        assert BatchItem.objects.get(decision=first).outcome == ""
    answers.go_round()

    assert again(first).state == "approved"
    assert Batch.objects.get().state == "done"
    assert violations([first.run_id, second.run_id]) == []


def test_the_clockwork_goes_round_while_a_batch_stands_at_a_lock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert BATCHES.duty in {duty.name for duty in Watch().duties}
    assert BATCHES.duty not in {duty.name for duty in clock_duties.registered()}
    if connection.vendor == "sqlite":
        return
    first, second = a_batch_of_two()
    monkeypatch.setattr(briefly, "SHORT_LOCKS", "SET LOCAL lock_timeout = 0")

    def answer() -> int:
        try:
            return Ordered(BATCHES).go_round()
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=1) as pool:
        with held(first.run_id):
            answering = pool.submit(answer)
            eventually(somebody_waits, what="the batch stands at the run's lock")
            Clockwork().go_round()

            assert Tick.objects.filter(duty="clockwork").exists()
            assert not answering.done()
        assert answering.result(PATIENCE) == 2

    assert [again(each).state for each in (first, second)] == ["approved", "approved"]
    assert violations([first.run_id, second.run_id]) == []
