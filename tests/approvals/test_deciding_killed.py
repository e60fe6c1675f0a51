"""kill -9 between each pair of statements at the desk: decided means resumed, undecided means open."""

import signal
import sys
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import connection

from approvals.models import Asking, Decision, Ground, Record, Sight, Vote
from runs.models import Assignment, AuditEvent, Run, Wait
from runs.queries.verify import violations
from runs.rules import canonical
from tests.approvals import struck
from tests.approvals.agreed import asking
from tests.approvals.builders import a_decision, a_person, acting, cancel, decide
from tests.approvals.struck import Counting
from tests.support import runs
from tests.support.programs import Site

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]


def a_list() -> Decision:
    return a_decision(count=1)


def first_of_two() -> Decision:
    return asking(quorum=2)


def second_of_two() -> Decision:
    decision = asking(quorum=2)
    decide(acting(User.objects.get(username="ben")), decision)
    return decision


ANSWERS: dict[str, tuple[Callable[[], Decision], str]] = {
    "the one answer": (a_list, "approved"),
    "the first vote of two": (first_of_two, "open"),
    "the last vote of two": (second_of_two, "approved"),
}


def strike(site: Site, strokes: list[tuple[Decision, str, str]]) -> str:
    program = site.launch(
        sys.executable,
        "-m",
        "tests.approvals.struck",
        "ann",
        *(f"{decision.pk}:{at}:{what}" for decision, at, what in strokes),
        DJANGO_SETTINGS_MODULE="config.settings",
    )
    assert program.ended(within=120) == 0, program.said()
    return program.said()


def standing_of(decision: Decision) -> tuple[object, ...]:
    """All that an answer changes."""
    run = Run.objects.get(pk=decision.run_id)
    return (
        Decision.objects.get(pk=decision.pk).state,
        run.state,
        Wait.objects.get(pk=decision.wait_id).state,
        Vote.objects.filter(decision=decision).count(),
        Record.objects.filter(decision=decision).count(),
        Assignment.objects.filter(run=run, state="placed").count(),
        AuditEvent.objects.filter(run_id=run.pk).count() == run.seq,
    )


def statements_of(decision: Decision) -> int:
    """How many an answer makes, by whom nobody kills."""
    count = Counting("never")
    with connection.execute_wrapper(count):
        decide(acting(User.objects.get(username="ann")), decision)
    return count.made


# So many fewer a process of its own may make than this one, which has its own caches.
FEWER = 10
LONG = [pytest.mark.long, pytest.mark.timeout(240)]
EVERY = [
    pytest.param("the last vote of two", 7, id="some"),
    *(pytest.param(what, 1, id=what, marks=LONG) for what in ANSWERS),
]


@pytest.mark.parametrize(("what", "every"), EVERY)
def test_an_answer_that_is_killed_has_happened_whole_or_not_at_all(
    site: Site, what: str, every: int
) -> None:
    asked, state = ANSWERS[what]
    a_person("ann"), a_person("ben")
    made = statements_of(asked())
    places = [*map(str, range(1, made + 1, every)), "before", "after"]
    asked_at = {at: asked() for at in places}
    before = {at: standing_of(decision) for at, decision in asked_at.items()}

    said = strike(site, [(decision, at, "answer") for at, decision in asked_at.items()])

    for at, decision in asked_at.items():
        killed = f"{decision.pk} -{int(signal.SIGKILL)}" in said.splitlines()
        assert killed or (at.isdigit() and int(at) > made - FEWER), f"nobody was killed at {at}"
        now, votes = standing_of(decision), before[at][3]
        if killed and at != "after":
            assert now == before[at], at
            assert now[:3] == ("open", "waiting", "open")
            continue
        moved = state == "approved"
        assert now[0] == state
        assert now[1:3] == (("queued", "resolved") if moved else ("waiting", "open"))
        assert now[3:] == (int(str(votes)) + 1, int(str(votes)) + 1, int(moved), True)
    assert violations() == []

    for decision in Decision.objects.filter(state="open"):
        answer_in_full(decision)
    runs.drain()
    assert set(Run.objects.values_list("state", flat=True)) == {"succeeded"}
    assert violations() == []


def answer_in_full(decision: Decision) -> None:
    """Whoever has not answered yet does, until it is enough."""
    for person in User.objects.order_by("pk"):
        voted = Vote.objects.filter(decision=decision, user=person).exists()
        if not voted and Decision.objects.get(pk=decision.pk).state == "open":
            decide(acting(person), decision)


def a_moved_one() -> Decision:
    decision = a_decision("question")
    facts = canonical.loads(Ground.objects.get(decision=decision).facts) | {"its generation": 7}
    Ground.objects.filter(decision=decision).update(facts=canonical.dumps(facts))
    return decision


def a_question() -> Decision:
    return a_decision("question")


# What is done, and of how many more it leaves rows: decisions, look-ups, sights.
ACTS: dict[str, tuple[Callable[[], Decision], tuple[int, int, int]]] = {
    "reopen": (a_moved_one, (1, 0, 0)),
    "ask": (a_question, (1, 1, 0)),
    "see": (a_question, (0, 0, 1)),
}


def kept_of(decision: Decision) -> tuple[int, ...]:
    of_run = {"decision__run_id": decision.run_id}
    return (
        Decision.objects.filter(run_id=decision.run_id).count(),
        Asking.objects.filter(**of_run).count(),
        Sight.objects.filter(**of_run).count(),
    )


def places_of(what: str) -> list[str]:
    """Before each statement, and on both sides of the commit."""
    count, decision = Counting("never"), ACTS[what][0]()
    with connection.execute_wrapper(count):
        struck.ACTS[what](acting(User.objects.get(username="ann")), decision.pk)
    return [*map(str, range(1, count.made - FEWER + 1)), "before", "after"]


@pytest.mark.parametrize(
    "whole", [pytest.param(False, id="some"), pytest.param(True, id="all", marks=LONG)]
)
def test_what_else_is_done_at_the_desk_is_done_whole_or_not_at_all(site: Site, whole: bool) -> None:
    a_person("ann")
    strokes = [
        (asked(), at, what)
        for what, (asked, _) in ACTS.items()
        for at in (places_of(what) if whole else ["before", "after"])
    ]
    before = {decision.pk: kept_of(decision) for decision, _, _ in strokes}

    said = strike(site, strokes)

    for decision, at, what in strokes:
        killed = f"{decision.pk} -{int(signal.SIGKILL)}" in said.splitlines()
        assert killed, f"nobody was killed at {what} {at}"
        more = ACTS[what][1] if at == "after" else (0, 0, 0)
        grown = tuple(map(int.__sub__, kept_of(decision), before[decision.pk]))
        assert grown == more, f"{what} {at}"
        assert Decision.objects.filter(run_id=decision.run_id, state="open").count() == 1
        assert Wait.objects.filter(run_id=decision.run_id, state="open").count() == 1
    assert violations() == []

    for decision in Decision.objects.filter(state="open"):
        cancel(decision)
    assert violations() == []
