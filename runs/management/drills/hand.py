"""The drill's person: starts runs, answers what they ask, delivers what they wait for, lets time pass."""

import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from django.db import connections, transaction

from runs import conf
from runs.engine import drill_rehearsal, faults
from runs.engine.drill_desk import desk
from runs.ledger import drills, lifecycle, waking
from runs.ledger.waits import WaitClosed
from runs.management.drills.asked import Asked
from runs.management.drills.stage import Stage
from runs.queries import drilling
from runs.queries.clock import db_now
from runs.queries.drilling import OpenWait
from runs.rules.crash_points import Point
from runs.rules.policy import Actor, local_operator
from runs.rules.states import WaitKind

NAME = "drill user"
FORK = multiprocessing.get_context("fork")
# Who is asked the same kind of thing this often about one run has not been heard.
MOST_ANSWERS = 12
VALUES: dict[str, Any] = {"str": "drilled", "int": 1, "float": 1.0, "bool": True}
# What the clock would let wait for longer than this is hastened; the rest is waited for.
LONG = 1.0


@dataclass(slots=True, kw_only=True)
class Hand:
    """`redelivers` makes it say everything twice, as an impatient client does."""

    stage: Stage
    redelivers: bool = False
    redeliveries: int = 0
    actor: Actor = field(default_factory=lambda: local_operator(NAME))
    answered: Counter[tuple[UUID, str]] = field(default_factory=Counter)
    lost_hands: int = 0
    asked_as: dict[int, int] = field(default_factory=dict)
    came_to: set[Point] = field(default_factory=set)
    # What it says happened to a call of which nobody knows; "" asks the receiver, as a person would.
    believes: str = ""

    def start(
        self, asked: Asked, *, reference: str, armed: Callable[[UUID], object] = lambda _id: None
    ) -> UUID:
        """A run; `armed` is done before anybody can claim it."""
        key = str(uuid4())

        def begin() -> UUID:
            with transaction.atomic():
                started = lifecycle.start(
                    self.actor,
                    workflow=asked.workflow,
                    version=asked.version,
                    data=asked.data,
                    reference=reference,
                    start_key=key,
                )
                if started.created:
                    armed(started.id)
            return started.id

        self._act("started", begin)
        self.redeliveries += int(self.redelivers)
        return begin()

    def attend(self, waits: list[OpenWait]) -> None:
        """Give each open wait what it waits for; what only its author can answer stays open."""
        for wait in waits:
            match wait.kind:
                case WaitKind.DECISION.value:
                    self._decide(wait)
                case WaitKind.EVENT.value:
                    self._deliver(wait)
                case WaitKind.TIMER.value | WaitKind.RETRY.value:
                    self._hasten(wait)

    def ring_again(self, run_ids: list[UUID]) -> None:
        """Ring doorbells that have been rung: a queue that delivers twice, late, or after the end."""
        for assignment_id in drilling.placed_or_claimed(run_ids):
            with transaction.atomic():
                conf.ring(assignment_id)
            self.redeliveries += 1

    def would_answer(self, wait: OpenWait) -> bool:
        """Whether this person knows what to say, and has not said it too often."""
        often = self.answered[wait.run_id, wait.ask.get("kind", "")] >= MOST_ANSWERS
        return self._option(wait) is not None and not often

    def _decide(self, wait: OpenWait) -> None:
        if not self.would_answer(wait) or self._may_still_happen(wait):
            return
        option = self._option(wait)
        assert option is not None  # noqa: S101 - it would answer
        self.answered[wait.run_id, wait.ask["kind"]] += 1
        chosen = next(each for each in wait.ask["options"] if each["key"] == option)
        fields = _fields(chosen, wait, self.stage.receiver)
        self._act(
            "decision_applied",
            lambda: desk()(
                self.actor, wait.id, option=option, fields=fields, comment="answered in a drill"
            ),
        )

    def _may_still_happen(self, wait: OpenWait) -> bool:
        """What the receiver has not done yet it may be doing: a person who says no has waited first."""
        if self._option(wait) != "did_not" or self.believes:
            return False
        caller, oldest = drill_rehearsal.under_way(self.stage.receiver)
        return oldest < self.asked_as.setdefault(wait.id, caller)

    def _option(self, wait: OpenWait) -> str | None:
        if self.believes and wait.ask.get("kind") == "reconcile":
            return self.believes
        return option_for(wait, receiver=self.stage.receiver)

    def _deliver(self, wait: OpenWait) -> None:
        for _ in range(2 if self.redelivers else 1):
            self._act(
                "event_committed",
                lambda: waking.deliver_event(
                    tenant_id=wait.tenant_id,
                    name=wait.event_name,
                    correlation_id=wait.correlation_id,
                    message_id=f"drill {wait.id}",
                    payload={"drilled": True},
                    source=NAME,
                ),
            )
        self.redeliveries += int(self.redelivers)

    def _hasten(self, wait: OpenWait) -> None:
        # What a probe may not know yet has its time for a reason (R1); it is waited for.
        timed = wait.kind == WaitKind.TIMER.value
        if timed and wait.due_at and (wait.due_at - db_now()).total_seconds() > LONG:
            drills.hasten(wait.id)

    def _act(self, point: Point, act: Callable[[], object]) -> None:
        """In a process of its own when this act is armed to be struck, again until it is done."""
        self.came_to.add(point)
        armed = f"{HANDS}.{point}"
        if not self.stage.is_armed(armed):
            act()
            return
        self.stage.disarm(armed)
        connections.close_all()
        child = FORK.Process(target=_struck_act, args=(act, point))
        child.start()
        child.join()
        self.lost_hands += child.exitcode != 0
        # Whoever was struck behind the commit does not know that it was made, and asks again.
        _again(act)


HANDS = "hands"


def _struck_act(act: Callable[[], object], point: Point) -> None:
    faults.arm_this_process(point)
    act()
    os._exit(0)


def _again(act: Callable[[], object]) -> None:
    try:
        act()
    except WaitClosed:
        return


def option_for(wait: OpenWait, *, receiver: str) -> str | None:
    """What this person says to this kind of question; None for what only an author can know."""
    kind, options = wait.ask.get("kind"), [each["key"] for each in wait.ask.get("options", ())]
    match kind:
        case "plan" | "call":
            return "approve"
        case "question":
            return options[0] if options else None
        case "reconcile":
            found = drill_rehearsal.look_up(receiver, wait.ask["call"]["key"])
            return "did_not" if found is None else "happened"
        case "give up" | "crashes":
            return "again"
        case "refused":
            return "reopen"
    return None


def _fields(chosen: Mapping[str, Any], wait: OpenWait, receiver: str) -> dict[str, Any]:
    given = {}
    for name, said in chosen.get("fields", {}).items():
        declared = said if isinstance(said, Mapping) else {"type": said}
        choices = declared.get("choices") or [VALUES.get(declared.get("type", "str"), "drilled")]
        given[name] = choices[0]
    if "receiver_id" in given:
        found = drill_rehearsal.look_up(receiver, wait.ask["call"]["key"]) or {}
        given["receiver_id"] = str(found.get("id", ""))
    return given
