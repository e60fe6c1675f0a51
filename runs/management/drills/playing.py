"""Plays runs to their end: keeps programs up, strikes, acts for people, and sees how each run ends."""

import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from django.db import Error, connection

from runs.engine import drill_rehearsal
from runs.management.drills.asked import Asked
from runs.management.drills.hand import HANDS, Hand
from runs.management.drills.roles import Role
from runs.management.drills.stage import Stage
from runs.queries import drilling
from runs.queries.drilling import OpenWait, Standing
from runs.rules.states import RunState, WaitKind

LOOK_EVERY = 0.04
RING_EVERY = 0.3
AT_ONCE = 16
ANY = "any"
ENDS = (RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED, RunState.SUPERSEDED)
Ended = Literal["", "ended", "asked", "stuck"]


@dataclass(slots=True, kw_only=True)
class Played:
    """One run of the drill, and how far it has come."""

    role: Role
    run_id: UUID
    strikes: deque[str]
    seq: int = -1
    moved_at: float = field(default_factory=time.monotonic)
    ended: Ended = ""
    state: str = ""
    reason: str = ""
    unstruck: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Player:
    """`each_look` is called while runs are played, with those that have not ended."""

    stage: Stage
    hand: Hand
    asked: Asked
    each_look: Callable[[list[Played]], None] = lambda _live: None
    played: list[Played] = field(default_factory=list)
    outages: int = 0
    _rang_at: float = 0.0

    def play(self, roles: Iterable[Role]) -> list[Played]:
        """Every role to its end, some at a time."""
        waiting, live, done = deque(roles), list[Played](), list[Played]()
        while waiting or live:
            self.stage.keep_up()
            while waiting and len(live) < AT_ONCE:
                live.append(self._begin(waiting.popleft()))
            try:
                self._look(live)
            except Error:
                # The drill itself may have taken the database away for a moment.
                self.outages += 1
                connection.close()
                time.sleep(LOOK_EVERY * 5)
            done += [each for each in live if each.ended]
            live = [each for each in live if not each.ended]
            time.sleep(LOOK_EVERY)
        return done

    def _begin(self, role: Role) -> Played:
        strikes = deque(role.strikes)
        if role.hands:
            self.stage.arm(f"{HANDS}.{role.hands}", role.hands)
        if role.anywhere:
            self.stage.arm(f"{ANY}.{role.anywhere}", role.anywhere)

        def armed(run_id: UUID) -> None:
            if strikes:
                self.stage.arm(str(run_id), strikes.popleft())
            if role.manners:
                drill_rehearsal.misbehave(self.stage.receiver, run=str(run_id), **role.manners)

        self.hand.redelivers = role.redelivers
        run_id = self.hand.start(self.asked, reference=role.name, armed=armed)
        played = Played(role=role, run_id=run_id, strikes=strikes)
        self.played.append(played)
        return played

    def _look(self, live: list[Played]) -> None:
        ids = [each.run_id for each in live]
        standings = drilling.standings(ids)
        waits = {wait.run_id: wait for wait in drilling.open_waits(ids)}
        for each in live:
            self._strike_next(each)
            self._judge(each, standings[each.run_id], waits.get(each.run_id))
        self.hand.attend([waits[each.run_id] for each in live if self._may_act(each, waits)])
        again = [each.run_id for each in live if each.role.redelivers]
        if again and time.monotonic() - self._rang_at > RING_EVERY:
            self._rang_at = time.monotonic()
            self.hand.ring_again(again)
        self.each_look([each for each in live if not each.ended])

    def _may_act(self, each: Played, waits: dict[UUID, OpenWait]) -> bool:
        return not each.ended and each.run_id in waits

    def _strike_next(self, each: Played) -> None:
        target = str(each.run_id)
        if each.strikes and not self.stage.is_armed(target):
            self.stage.arm(target, each.strikes.popleft())

    def _judge(self, each: Played, now: Standing, wait: OpenWait | None) -> None:
        each.state, each.reason = now.state, now.reason
        if now.seq != each.seq:
            each.seq, each.moved_at = now.seq, time.monotonic()
        if now.state in ENDS:
            self._end(each, "ended")
        elif wait is not None and self._is_beyond_the_hand(wait):
            each.reason = str(wait.ask.get("question", wait.name))
            self._end(each, "asked")
        elif time.monotonic() - each.moved_at > self.asked.patience:
            self._end(each, "stuck")

    def _is_beyond_the_hand(self, wait: OpenWait) -> bool:
        return wait.kind == WaitKind.DECISION.value and not self.hand.would_answer(wait)

    def _end(self, each: Played, how: Ended) -> None:
        each.ended = how
        mine = [str(each.run_id)]
        mine += [f"{ANY}.{each.role.anywhere}"] if each.role.anywhere else []
        mine += [f"{HANDS}.{each.role.hands}"] if each.role.hands else []
        left = [name for name in mine if self.stage.is_armed(name)]
        each.unstruck = (*left, *each.strikes)
        for target in left:
            self.stage.disarm(target)


def wake(pid: int) -> None:
    """Let a stopped process go on, if it is still there."""
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return
