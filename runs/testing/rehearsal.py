"""A rehearsal: runs under a clock, receivers and crashes of the test's own."""

from collections.abc import Collection, Mapping
from contextlib import ExitStack
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from runs.definition import gates
from runs.definition.workflow import Workflow
from runs.engine import faults
from runs.engine.clockwork import Clockwork
from runs.ledger import lifecycle, waking
from runs.queries import memberships, naming, verify
from runs.queries.clock import db_now
from runs.rules.crash_points import Point
from runs.testing import working
from runs.testing.clock import Clock
from runs.testing.entries import Entries
from runs.testing.kills import Kill
from runs.testing.outcomes import tester
from runs.testing.receivers import Receiver
from runs.testing.rehearsed import RehearsedRun
from runs.testing.stand_ins import StandIns

MOST_TIMERS = 1000


class Rehearsal:
    """Runs in the test's own process, each to its end or to what it waits for.

    `receivers` by effect name stand in for the real ones; every other effect gets one that confirms
    everything, and only what is named in `real` is really sent. On leaving, every invariant that the
    database can show is checked.
    """

    def __init__(
        self, *, receivers: Mapping[str, Receiver] | None = None, real: Collection[str] = ()
    ) -> None:
        self.runs: list[RehearsedRun] = []
        self.kills: list[str] = []
        self._stand_ins = StandIns(receivers or {}, real=real)
        self.entries = Entries()
        self._clock = Clock()
        self._armed: Kill | None = None

    def __enter__(self) -> Self:
        working.refuse_transaction()
        self._stack = ExitStack()
        self._stack.enter_context(self._clock)
        self._stack.callback(gates.register, "decision", gates.gate_for("decision"))
        # The test is the desk: it is asked by `question`, and told nothing.
        gates.register("decision", gates.Quiet())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()
        if error is None:
            self._require_struck()
            found = list(verify.violations([run.id for run in self.runs]))
            if found:
                raise AssertionError("\n".join(f"{each.invariant}: {each.text}" for each in found))

    def receiver(self, effect: str) -> Receiver:
        """Who stands in for this effect, given or not."""
        return self._stand_ins.receiver(effect)

    @property
    def now(self) -> datetime:
        """The engine's present time."""
        return db_now()

    def start(self, workflow: type[Workflow], **given: Any) -> RehearsedRun:
        """Start a run with this input, and work until nothing is left to do."""
        self._stand_ins.take_the_place_of(workflow, self._stack)
        self.entries.count_in(workflow, self._stack)
        started = lifecycle.start(
            tester(), workflow=workflow.name, version=workflow.version, data=given
        )
        run = RehearsedRun(id=started.id, stage=self)
        self.runs.append(run)
        self.work()
        return run

    def work(self) -> None:
        """Work until every run has ended or waits; after a kill, as another worker."""
        while True:
            try:
                working.work()
            except faults.Died as died:
                self.kills.append(str(died))
                self._armed = self._armed.struck(self._stack) if self._armed else None
            else:
                return

    def advance(self, by: timedelta) -> None:
        """Let this much time pass at once: what falls due on the way happens when it is due."""
        until = db_now() + by
        for _ in range(MOST_TIMERS):
            now = db_now()
            later = [at for run in self.runs for at in run.due_at() if now < at < until]
            if not later:
                self._tick(until - now)
                return
            self._tick(min(later) - now)
        raise AssertionError(f"More than {MOST_TIMERS} things fell due within {by}.")

    def skip_timers(self) -> None:
        """Let time pass until nothing but people and events is waited for."""
        for _ in range(MOST_TIMERS):
            due = [at for run in self.runs for at in run.due_at("timer", "retry")]
            if not due:
                return
            self._tick(max(min(due) - db_now(), timedelta(0)))
        raise AssertionError(f"After {MOST_TIMERS} timers and retries the runs still wait for one.")

    def _tick(self, after: timedelta) -> None:
        self._clock.advance(after + timedelta(milliseconds=1))
        Clockwork().go_round()
        self.work()

    def deliver(
        self,
        name: str,
        correlation_id: str,
        payload: Mapping[str, Any] | None = None,
        *,
        message_id: str | None = None,
    ) -> str:
        """An event from outside: "used", "kept", or "duplicate" when its message id came before."""
        taken = waking.deliver_event(
            tenant_id=naming.tenant_named(tester(), memberships.DEFAULT) or 0,
            name=name,
            correlation_id=correlation_id,
            message_id=message_id or str(uuid4()),
            payload=payload or {},
            source="tests",
        )
        self.work()
        return taken

    def kill_at(
        self, point: Point, *, step: str = "", at: int = 1, times: int = 1, must: bool = True
    ) -> None:
        """Let the worker die the `at`-th time it comes to this point (in this step).

        With `times` the next workers die there as well. A kill that has not happened by the end of
        the rehearsal fails the test, unless `must` is False.
        """
        if self._armed:
            raise ValueError(f"The kill at {self._armed} has not happened yet; one at a time.")
        self._armed = Kill(point=point, step=step, left=times, must=must)
        self._armed.arm(self._stack, at=at)

    def _require_struck(self) -> None:
        if self._armed and self._armed.must:
            raise AssertionError(
                f"The worker never came to {self._armed}, so it was not killed. "
                "Is the step reached, and does it get there? kill_at(..., must=False) allows it."
            )
