"""Which runs need a person now, which may soon, how many go on, which ended last."""

from datetime import UTC, datetime

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import TruncHour

from runs.models import AuditEvent, Run, Step
from runs.queries.keyset import count_up_to
from runs.queries.visibility import visible_runs, visible_to
from runs.rules import hours
from runs.rules.hours import Begun, Hours
from runs.rules.policy import Actor
from runs.rules.states import FINAL, OPEN, RunState

SHOWN = 50
CAP = 99
# So many of the newest runs are counted by the hour; the page says so where there are more.
MOST_BY_HOUR = 10_000


def failed(actor: Actor) -> QuerySet[Run]:
    """The runs that have stopped and stand open."""
    return visible_runs(actor).filter(state=RunState.FAILED.value)


def count_of_failed(actor: Actor) -> int:
    """No further than one past 99: nobody reads the difference."""
    return count_up_to(failed(actor), cap=CAP)


def stopped(actor: Actor) -> list[Run]:
    """The newest of them."""
    return list(failed(actor).order_by("-created_at", "-pk")[:SHOWN])


def at_risk(actor: Actor) -> list[Step]:
    """Steps that have failed or lost a worker, of runs that still go on."""
    return list(
        visible_to(actor, Step.objects.all(), through="run__tenant_id")
        .filter(
            Q(failures__gte=1) | Q(crashes__gte=1),
            superseded=False,
            state__in=["pending", "running", "waiting"],
            run__state__in=[RunState.QUEUED.value, RunState.RUNNING.value, RunState.WAITING.value],
        )
        .select_related("run")
        .order_by("-failures", "-crashes")[:10]
    )


def counts_now(actor: Actor) -> dict[str, int]:
    """How many runs are in each state that is not final, each counted to a cap."""
    runs = visible_runs(actor)
    states = (state.value for state in RunState if state in OPEN)
    return {state: count_up_to(runs.filter(state=state)) for state in states}


def hours_until(actor: Actor, *, now: datetime) -> Hours:
    """The runs of the last 24 hours by the hour in which they began, as they stand now."""
    newest = visible_runs(actor).filter(created_at__gte=hours.since(now)).order_by("-created_at")
    counted = Run.objects.filter(pk__in=newest.values("pk")[:MOST_BY_HOUR]).order_by()
    rows = counted.values_list(TruncHour("created_at", tzinfo=UTC), "state")
    begun = [
        Begun(start=start, state=state, amount=amount)
        for start, state, amount in rows.annotate(amount=Count("pk"))
    ]
    more = sum(each.amount for each in begun) >= MOST_BY_HOUR
    return hours.hours_of(begun, now=now, more=more)


def just_finished(actor: Actor, *, amount: int = 10) -> list[Run]:
    """The last to end among the newest: no index orders runs by their end."""
    final = sorted(state.value for state in FINAL)
    newest = visible_runs(actor).filter(state__in=final).order_by("-created_at", "-pk")[:100]
    return sorted(newest, key=lambda run: run.ended_at or run.updated_at, reverse=True)[:amount]


def version_of() -> str:
    """The newest recorded fact of all: one read of an index, however many runs there are."""
    newest = AuditEvent.objects.order_by("-pk").values_list("pk", flat=True).first()
    return f"{newest or 0}"
