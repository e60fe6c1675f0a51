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
    # Of the clockwork: that a lesser duty still goes round takes no lost work over.
    tick = Tick.objects.filter(duty="clockwork").values_list("at", flat=True).first()
    if tick is not None and now - tick <= WATCH_IS_SILENT_AFTER:
        return EngineState(version="well")
    since = f"for {span(now - tick)}" if tick else "ever"
    return EngineState(
        version=since,
        trouble=f"Nobody watches: no tick of watch {since}, so lost work is not taken over.",
    )
