"""A run of a selection that somebody holds: it is left for later, and nothing else waits for it."""

from datetime import timedelta
from uuid import UUID

import pytest

from runs.engine import clockwork
from runs.engine.clockwork import Clockwork
from runs.engine.ordered import SELECTIONS, Ordered
from runs.ledger import selecting
from runs.models import Selection, SelectionItem, Tick, Worker
from runs.queries.actors import actor_for
from runs.queries.clock import db_now
from runs.queries.verify import violations
from runs.rules.together import Together
from tests.dashboard.builders import a_person
from tests.durability.fences import a_held_run
from tests.support import runs
from tests.support.held import held

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_moves")]


def a_run_of_a_worker_that_is_lost() -> UUID:
    lost = a_held_run("stumbles", mend=1)
    over = db_now() - timedelta(seconds=1)
    Worker.objects.filter(pk=lost.fence.worker_id).update(host="another.example", lease_until=over)
    return lost.run_id


def test_it_keeps_neither_the_others_of_the_selection_nor_a_takeover(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A test that is kept from the processor between two passes has seen no outage.
    monkeypatch.setattr(clockwork, "BLIND_AFTER", 600.0)
    works, orders = Clockwork(), Ordered(SELECTIONS)
    works.go_round()
    lost = a_run_of_a_worker_that_is_lost()
    first, second = (runs.a_run("stumbles", {"mend": 1}) for _ in range(2))
    actor = actor_for(a_person("omar", "operate"))
    selection = selecting.choose(actor, [first, second], verb=Together.CANCEL, asked_for="")
    selecting.begin(actor, selection.pk, because="All of them.")

    with held(first):
        # One pass may end at what is held; the next one begins behind it.
        orders.go_round()
        orders.go_round()
        works.go_round()

        assert [runs.state_of(each) for each in (first, second)] == ["queued", "cancelled"]
        assert runs.state_of(lost) == "queued"
        assert SelectionItem.objects.get(run=first).outcome == ""
        assert Tick.objects.filter(duty="clockwork").exists()
    orders.go_round()

    assert runs.state_of(first) == "cancelled"
    assert Selection.objects.get().state == "done"
    assert violations([first, second, lost]) == []
