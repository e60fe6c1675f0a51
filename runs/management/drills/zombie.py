"""A worker of another machine is stopped past its lease, another finishes, then it wakes and writes."""

import signal
from typing import TYPE_CHECKING

import psutil

from runs.management.drills.playing import Played, Player, wake
from runs.management.drills.roles import Role
from runs.management.drills.stage import SHORT_LEASE, StageTrouble, eventually

if TYPE_CHECKING:
    from runs.management.drills.conduct import Drill

ELSEWHERE = "another-machine"
GONE_WITHIN = 15.0


def play(drill: "Drill") -> list[Played]:
    """The run of the zombie, ended by others; StageTrouble when no worker could be stopped."""
    stage, step = drill.stage, _step_to_stop_in(drill)
    far = stage.start_cluster(workers=1, elsewhere=ELSEWHERE, LEASE_SECONDS=SHORT_LEASE)
    role = Role(
        name="zombie", strikes=(f"before_commit:1@{step}!stop",), step=step, fault="stale lease"
    )
    stopped: list[int] = []

    def once_it_stands(live: list[Played]) -> None:
        if stopped or not (strikes := stage.strikes()):
            return
        stopped.append(strikes[-1]["pid"])
        far.wanted = False
        stage.start_cluster(workers=drill.asked.workers)

    player = Player(stage=stage, hand=drill.hand, asked=drill.asked, each_look=once_it_stands)
    played = player.play([role])
    if stopped:
        wake(stopped[0])
        eventually(
            lambda: not _is_there(stopped[0]),
            what="the zombie ends when it learns that it was replaced",
            within=GONE_WITHIN,
        )
    _leave(far.process.pid)
    return played


def _step_to_stop_in(drill: "Drill") -> str:
    calling = [step.key for step in drill.plan.steps if step.effects]
    return calling[0] if calling else drill.steps[0]


def _is_there(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _leave(pid: int) -> None:
    try:
        psutil.Process(pid).send_signal(signal.SIGTERM)
    except psutil.NoSuchProcess as gone:
        raise StageTrouble("The cluster of the zombie ended by itself.") from gone
