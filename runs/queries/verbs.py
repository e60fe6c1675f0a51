"""What can be done with this run now, and why not the rest."""

from collections.abc import Sequence
from dataclasses import dataclass

from runs.models import Run, Wait
from runs.rules import canonical
from runs.rules.states import RunState, WaitKind, WaitState
from runs.rules.verbs import RunVerb, Stands, why_not

LABELS = {
    RunVerb.RESUME: "Resume",
    RunVerb.RETRY: "Retry now",
    RunVerb.PAUSE: "Pause",
    RunVerb.CORRECT: "Correct input",
    RunVerb.CANCEL: "Cancel",
}
ICONS = {RunVerb.RESUME: "play", RunVerb.PAUSE: "pause"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One verb; where it is not possible, `why_not` says so in a sentence."""

    verb: RunVerb
    why_not: str

    @property
    def label(self) -> str:
        return LABELS[self.verb]

    @property
    def icon(self) -> str:
        return ICONS.get(self.verb, "")

    @property
    def view(self) -> str:
        """The name of the page that asks for the reason."""
        return f"runs:{self.verb.value}"

    @property
    def possible(self) -> bool:
        return not self.why_not


def stands_of(run: Run) -> Stands:
    """What decides which verbs are possible; asks for the open wait only where there may be one."""
    parked = run.state in (RunState.WAITING, RunState.PAUSED)
    wait = Wait.objects.filter(run=run, state=WaitState.OPEN.value).first() if parked else None
    return stands_with(run, wait)


def stands_with(run: Run, wait: Wait | None) -> Stands:
    """The same from rows that a page has read already."""
    asked = canonical.loads(wait.subject) if wait and wait.kind == WaitKind.DECISION else None
    return Stands(
        state=RunState(run.state),
        cancel_requested=run.cancel_requested,
        pause_requested=run.pause_requested,
        supersede_requested=run.supersede_requested,
        waits_for=wait.kind if wait else "",
        ask_kind=str(asked.get("kind", "")) if isinstance(asked, dict) else "",
    )


def offers_for(stands: Stands) -> Sequence[Offer]:
    """Every verb that moves the run, in the order in which they stand on the page."""
    return [Offer(verb=verb, why_not=why_not(verb, stands)) for verb in LABELS]


def seen_as(run: Run) -> str:
    """What a person saw of it; a running one records facts all the time and stays what it is."""
    if run.state == RunState.RUNNING:
        return f"running-{int(run.cancel_requested)}{int(run.pause_requested)}"
    return f"{run.state}-{run.seq}"
