"""What the frame of every page says: how much waits for people, and whether the engine lives."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from runs.conf import conf
from runs.models import Tick, Worker
from runs.queries.clock import db_now
from runs.rules.states import WorkerState
from runs.rules.words import span

CAP = 99
WATCH_IS_SILENT_AFTER = timedelta(seconds=15)
JUDGE = "judge"
VITAL = {"clockwork": "lost work is not taken over", JUDGE: "silence is not noticed"}
NAMED = {"clockwork": "watch", JUDGE: "its judge"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineState:
    """`trouble` is the sentence of the red bar, empty while all is well."""

    version: str
    trouble: str = ""


def engine_state() -> EngineState:
    """A quiet screen must never look healthy: say it when nothing executes or nobody watches."""
    now = db_now()
    lease = Worker.objects.order_by("-renewed_at").values_list("state", "renewed_at").first()
    if lease is None:
        return EngineState(
            version="none", trouble="Nothing is being executed: no worker ever seen."
        )
    state, renewed_at = lease
    if state != WorkerState.LIVE.value or now - renewed_at > 2 * conf().lease:
        ago = span(now - renewed_at)
        return EngineState(version=ago, trouble=f"Nothing is being executed: no worker for {ago}.")
    return _watched(now)


def _watched(now: datetime) -> EngineState:
    # Of these duties: that a lesser one still goes round takes no lost work over.
    ticks = dict(Tick.objects.filter(duty__in=VITAL).values_list("duty", "at"))
    for duty, lost in VITAL.items():
        at = ticks.get(duty)
        if at is not None and now - at <= WATCH_IS_SILENT_AFTER:
            continue
        if duty == JUDGE and (at is None or not conf().beat_every):
            # It was never asked to judge: no beats are sent here.
            continue
        since = f"for {span(now - at)}" if at else "ever"
        return EngineState(
            version=f"{duty} {since}",
            trouble=f"Nobody watches: no tick of {NAMED[duty]} {since}, so {lost}.",
        )
    return EngineState(version="well")
