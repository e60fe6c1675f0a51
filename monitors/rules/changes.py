"""A change of verdict, as the judge tells it to whoever makes alerts of it."""

from dataclasses import dataclass
from datetime import datetime

from monitors.rules.states import MonitorKind, MonitorState, Verdict
from monitors.rules.verdicts import Breach


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """From what to what, with its sentence and its advice; `seq` numbers those of one monitor.

    `was_verdict` is None when it was never judged. `worker`, `clusters` and `workflow` name what it
    shares with others of the same cause. `retired`: what was watched has come to its own end, nothing is wrong
    with it any more. `told` is False where people need not hear of it.
    """

    monitor_id: int
    tenant_id: int
    seq: int
    kind: MonitorKind
    subject: str
    name: str
    workflow: str = ""
    worker: str = ""
    clusters: tuple[str, ...] = ()
    was_state: MonitorState
    state: MonitorState
    was_verdict: Verdict | None
    verdict: Verdict
    breach: Breach = Breach.NONE
    sentence: str
    advice: str
    since: datetime
    at: datetime
    retired: bool = False
    told: bool = True
