"""Figures of runs for a machine that watches them, computed from the tables; each is bounded."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Min

from runs.models import Assignment, Call, Message, Run, Tick, Wait, Worker
from runs.queries.clock import db_now
from runs.queries.keyset import count_up_to
from runs.queries.recovery import WINDOW, figures, recoveries
from runs.queries.visibility import visible_to
from runs.rules.exposition import Family, gauge, gauges
from runs.rules.policy import Actor
from runs.rules.states import (
    UNSETTLED_CALLS,
    AssignmentState,
    CallState,
    DeliveryState,
    RunState,
    WaitKind,
    WaitState,
    WorkerState,
)

# Nobody alarms on the difference between 100,000 and more, and counting further costs.
MOST = 100_000
COUNTED = f"; counted no further than {MOST + 1}"
UNSETTLED = sorted(state.value for state in UNSETTLED_CALLS)


def run_figures(actor: Actor) -> list[Family]:
    """What this actor may see of runs, and how the engine stands."""
    now = db_now()
    return [*_runs(actor, now), *_outbox(actor, now), *_recoveries(actor, now), *_engine(now)]


def _runs(actor: Actor, now: datetime) -> Iterable[Family]:
    runs = visible_to(actor, Run.objects.all())
    yield gauges(
        "runs",
        f"Runs by state{COUNTED}",
        by="state",
        values={state: count_up_to(runs.filter(state=state), cap=MOST) for state in RunState},
    )
    waits = visible_to(
        actor, Wait.objects.filter(state=WaitState.OPEN.value), through="run__tenant_id"
    )
    yield gauges(
        "open_waits",
        f"Open waits by what is waited for{COUNTED}",
        by="kind",
        values={kind: count_up_to(waits.filter(kind=kind), cap=MOST) for kind in WaitKind},
    )
    placed = visible_to(
        actor,
        Assignment.objects.filter(state=AssignmentState.PLACED.value),
        through="run__tenant_id",
    )
    oldest = placed.order_by("placed_at").values_list("placed_at", flat=True).first()
    says = "How long the oldest run waits for a worker"
    yield gauge("oldest_queued_seconds", says, _age(oldest, now) or 0)
    calls = visible_to(
        actor,
        Call.objects.filter(state__in=UNSETTLED).filter(state=CallState.AMBIGUOUS.value),
        through="run__tenant_id",
    )
    says = f"Calls of which nobody knows whether they happened{COUNTED}"
    yield gauge("calls_ambiguous", says, count_up_to(calls, cap=MOST))


def _outbox(actor: Actor, now: datetime) -> Iterable[Family]:
    messages = visible_to(actor, Message.objects.all())
    states = (DeliveryState.PENDING, DeliveryState.HELD, DeliveryState.DEAD)
    yield gauges(
        "outbox_messages",
        f"Messages that have not arrived, by state{COUNTED}",
        by="state",
        values={state: count_up_to(messages.filter(state=state), cap=MOST) for state in states},
    )
    pending = messages.filter(state=DeliveryState.PENDING.value, due_at__lte=now)
    due_at = pending.aggregate(at=Min("due_at"))["at"]
    yield gauge(
        "outbox_late_seconds", "How long the oldest due message waits", _age(due_at, now) or 0
    )


def _recoveries(actor: Actor, now: datetime) -> Iterable[Family]:
    found = figures(recoveries(since=now - WINDOW, among=visible_to(actor, Run.objects.all())))
    lately = "in the last 7 days, from a worker's death to the next step's start"
    yield gauge("recoveries", f"Runs taken over {lately}", found.count)
    yield gauge("recovery_seconds_median", f"Median {lately}", found.median)
    yield gauge("recovery_seconds_max", f"Maximum {lately}", found.maximum)


def _engine(now: datetime) -> Iterable[Family]:
    live = Worker.objects.filter(state=WorkerState.LIVE.value)
    leased = live.filter(lease_until__gte=now)
    yield gauges(
        "workers",
        "Workers that nobody has declared gone, by whether their lease is good",
        by="lease",
        values={
            "good": count_up_to(leased, cap=MOST),
            "over": count_up_to(live.filter(lease_until__lt=now), cap=MOST),
        },
    )
    ticks = dict(Tick.objects.order_by("duty").values_list("duty", "at")[:1000])
    yield gauges(
        "tick_age_seconds",
        "How long ago each duty of the watch went round",
        by="duty",
        values={duty: max((now - at).total_seconds(), 0) for duty, at in ticks.items()},
    )


def _age(since: datetime | None, now: datetime) -> float | None:
    return max((now - since).total_seconds(), 0) if since else None
