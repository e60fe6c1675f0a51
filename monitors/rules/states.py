"""Which states a monitor has, what a ping says, what a judgement may be, and what is watched."""

from enum import StrEnum


class MonitorState(StrEnum):
    """`new` has never been pinged; `late` is past its time but within its grace."""

    NEW = "new"
    UP = "up"
    LATE = "late"
    DOWN = "down"
    PAUSED = "paused"


class Verdict(StrEnum):
    """What two independent facts, the ping and the database, say together."""

    ALIVE = "alive"
    SLOW = "slow"
    CUT_OFF = "cut_off"
    SILENT = "silent"
    BLIND = "blind"


class MonitorKind(StrEnum):
    """What is watched: something outside, or a part of Milepost itself."""

    OUTSIDE = "outside"
    RUN = "run"
    SCHEDULE = "schedule"
    WORKER = "worker"
    WATCH = "watch"
    CLUSTER = "cluster"


class PingKind(StrEnum):
    """What a ping said. `ignored` was taken in, but this monitor does not count it."""

    SUCCESS = "success"
    START = "start"
    FAIL = "fail"
    LOG = "log"
    IGNORED = "ignored"
