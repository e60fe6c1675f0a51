"""One run of a rehearsal, as the test that started it sees and steers it."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from runs.queries import visibility
from runs.rules.words import of
from runs.testing import asking
from runs.testing.outcomes import Outcome, outcome_of, tester

if TYPE_CHECKING:
    from runs.testing.rehearsal import Rehearsal


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsedRun:
    """Everything is read anew each time, so it is what the database says now."""

    id: UUID
    stage: "Rehearsal"

    @property
    def outcome(self) -> Outcome:
        return outcome_of(self.id)

    @property
    def state(self) -> str:
        return self.outcome.state

    @property
    def why(self) -> str:
        """What it waits for, since when, and what happens next, in a sentence."""
        return self.outcome.why

    @property
    def facts(self) -> dict[str, Any]:
        return self.outcome.facts

    def due_at(self, *kinds: str) -> list[datetime]:
        """When the clock closes what it waits for; of these kinds, such as timer and retry."""
        run = visibility.visible_runs(tester()).get(pk=self.id)
        waits = run.waits.filter(state="open", due_at__isnull=False)
        return [
            each.due_at for each in waits if each.due_at and each.kind in (kinds or (each.kind,))
        ]

    @property
    def question(self) -> asking.Question:
        """The decision it waits for."""
        return asking.question_of(self.id)

    def answer(
        self, option: str, *, by: str = "ann", strike: Collection[str] = (), **fields: Any
    ) -> None:
        """Answer the decision as this person, and let the run go on.

        `strike` names resources of calls to leave off the list that is approved. Who may answer is
        the desk's business, so it is not asked here.
        """
        asking.answer(self.id, option, by=by, strike=strike, fields=fields)
        self.stage.work()

    def approve(self, *, by: str = "ann", strike: Collection[str] = ()) -> None:
        self.answer("approve", by=by, strike=strike)

    def entries(self, step: str) -> int:
        """How often the step's body was entered: again after a wait in it, a failure, a death."""
        if step not in (known := {row["key"] for row in self.outcome.steps}):
            come = ", ".join(sorted(known))
            raise LookupError(f"The run has not come to step {step!r}, only to: {come}.")
        return self.stage.entries.of(self.id, step)

    def assert_ran_once(self, *steps: str) -> None:
        """None of these bodies was entered a second time."""
        again = [f"{step}: {times}" for step in steps if (times := self.entries(step)) != 1]
        if again:
            raise AssertionError(f"Not entered once, but {'; '.join(again)} times.")

    def assert_happened_once(self, effect: str, *, times: int = 1) -> None:
        """At the receiver, this many calls of the effect took place, each once, and all are on record."""
        happened = self.stage.receiver(effect).happened
        mine = [call for call in self.outcome.calls if call["effect"] == effect]
        seen = {call["key"]: call["state"] for call in mine if call["key"] in happened}
        if len(seen) != times:
            raise AssertionError(f"{effect} happened {of(len(seen), 'time')} here, not {times}.")
        if twice := [key for key in seen if happened[key] > 1]:
            raise AssertionError(f"{effect} happened more than once under {', '.join(twice)}.")
        if doubted := [f"{key} is {state}" for key, state in seen.items() if state != "confirmed"]:
            raise AssertionError(f"{effect} happened, and the run says {'; '.join(doubted)}.")
