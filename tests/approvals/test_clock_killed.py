"""kill -9 between the statements of what the watch does for decisions: done whole or not at all, once."""

import re
import signal
import sys
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from approvals.ledger import batching, rule_book
from approvals.models import Batch, BatchItem, Decision, Notice, RuleVersion, Vote
from approvals.queries import due
from approvals.tasks import BATCHES
from runs.engine.clockwork import Clockwork
from runs.engine.ordered import Ordered
from runs.models import AuditEvent, Message, Run, Wait
from runs.queries.clock import db_now
from runs.queries.verify import violations
from tests.approvals.builders import a_decision, a_person, acting, decide
from tests.support import runs
from tests.support.programs import Site
from tests.support.waiting import eventually

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]


def a_notice() -> tuple[Decision, int]:
    decision = a_decision("asked_too")
    notice = Notice.objects.get(decision=decision)
    Notice.objects.filter(pk=notice.pk).update(due_at=db_now())
    return decision, notice.pk


def one_for_a_rule() -> tuple[Decision, int]:
    if not RuleVersion.objects.exists():
        terms = rule_book.Terms(
            workflow="refunds",
            step="",
            effect="shop.refund",
            conditions="",
            most=1000,
            ends_at=db_now() + timedelta(days=1),
            because="A test.",
        )
        rule = rule_book.write(
            runs.the_operator(), tenant_id=runs.the_tenant().pk, name="all", terms=terms
        )
        rule_book.enable(runs.the_operator(), rule.pk, enabled=True)
    decision = a_decision("refunds")
    return decision, decision.pk


def one_whose_answer_is_due() -> tuple[Decision, int]:
    decision = a_decision("not_before")
    decide(acting(User.objects.get(username="mara")), decision)
    Wait.objects.filter(pk=decision.wait_id).update(due_at=db_now())
    Decision.objects.filter(pk=decision.pk).update(takes_effect_at=db_now())
    return decision, decision.wait_id


def a_batch_of(*decisions: Decision) -> Batch:
    return batching.begin(
        acting(User.objects.get(username="mara")),
        shown={each.pk: each.digest for each in decisions},
        option="approve",
        fields={},
        comment="",
    )


def one_of_a_batch() -> tuple[Decision, int]:
    decision = a_decision("refunds")
    return decision, BatchItem.objects.get(batch=a_batch_of(decision)).pk


DUTIES: dict[str, Callable[[], tuple[Decision, int]]] = {
    "notice": a_notice,
    "rule": one_for_a_rule,
    "deferred": one_whose_answer_is_due,
    "batch": one_of_a_batch,
}


def strike(site: Site, duty: str, strokes: dict[str, tuple[Decision, int]]) -> str:
    program = site.launch(
        sys.executable,
        "-m",
        "tests.approvals.struck_clock",
        duty,
        *(f"{number}:{at}" for at, (_, number) in strokes.items()),
        DJANGO_SETTINGS_MODULE="config.settings",
    )
    assert program.ended(within=120) == 0, program.said()
    return program.said()


def standing_of(decision: Decision) -> tuple[object, ...]:
    """All that these duties change."""
    now, run = Decision.objects.get(pk=decision.pk), Run.objects.get(pk=decision.run_id)
    return (
        now.state,
        run.state,
        now.audience.count(),
        Vote.objects.filter(decision=decision).count(),
        Message.objects.filter(run_id=run.pk).count(),
        Notice.objects.filter(decision=decision, told_at=None).count(),
        BatchItem.objects.filter(decision=decision, outcome="").count(),
        AuditEvent.objects.filter(run_id=run.pk).count(),
    )


def kill_at(site: Site, duty: str, *, every: int) -> None:
    a_person("mara", email="mara@example.com")
    prepare = DUTIES[duty]
    counted = re.search(r"statements (\d+)", strike(site, duty, {"never": prepare()}))
    assert counted is not None
    # The first of its kind may look something up that the others know: its last has no like.
    places = [*map(str, range(1, int(counted[1]), every)), "before", "after"]
    strokes = {at: prepare() for at in places}
    before = {at: standing_of(decision) for at, (decision, _) in strokes.items()}

    said = strike(site, duty, strokes)

    for at, (decision, number) in strokes.items():
        killed = f"{number} -{int(signal.SIGKILL)}" in said.splitlines()
        assert killed, f"nobody was killed at {at}"
        assert (standing_of(decision) == before[at]) == (at != "after"), at
    used = sum(RuleVersion.objects.values_list("used", flat=True))
    assert used == Vote.objects.filter(door="rule").count()
    assert violations() == []

    Clockwork().go_round()
    while due.batch_items_due(at_most=1):
        Ordered(BATCHES).go_round()

    ends = {standing_of(decision) for decision, _ in strokes.values()}
    assert len(ends) == 1, ends
    assert violations() == []


@pytest.mark.parametrize("duty", DUTIES)
def test_what_the_watch_does_is_done_whole_or_not_at_all(site: Site, duty: str) -> None:
    kill_at(site, duty, every=8)


@pytest.mark.long
@pytest.mark.parametrize("duty", DUTIES)
def test_the_same_between_each_pair_of_statements(site: Site, duty: str) -> None:
    kill_at(site, duty, every=1)


def test_of_two_watches_each_does_what_the_other_has_not_though_each_dies_behind_each_answer(
    site: Site,
) -> None:
    a_person("mara", email="mara@example.com")
    told_again = [a_decision("told_again") for _ in range(4)]
    # More than there are watches: whoever answers one is killed, so the last takes one that came back.
    alike = [a_decision("refunds") for _ in range(3)]
    watches = [
        site.start("watch", VAR_DIR=str(site.var / name), FAULT_AT="batch_item_answered:1")
        for name in ("one", "two")
    ]
    eventually(lambda: all(watch.family() for watch in watches), what="both watches work")

    batch = a_batch_of(*alike)
    Notice.objects.update(due_at=db_now())

    eventually(lambda: not Notice.objects.filter(told_at=None).exists(), what="all are reminded")
    eventually(lambda: Batch.objects.get(pk=batch.pk).state == "done", what="all are answered")
    assert [watch.stop() for watch in watches] == [0, 0]
    assert "watch.duty_ended" in "".join(watch.said() for watch in watches)
    told = Message.objects.filter(kind="decision.reminder")
    # Both of a decision fell due together, so they come as one.
    assert told.count() == len(told_again)
    events = AuditEvent.objects.filter(kind="decision.reminder")
    assert events.count() == len(told_again)
    assert Vote.objects.filter(door="batch").count() == len(alike)
    assert violations() == []
