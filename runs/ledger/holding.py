"""A person takes a run into their hands: may they, is it there, is it still what they saw."""

from uuid import UUID

from runs.ledger import transitions
from runs.models import Run
from runs.queries.verbs import seen_as, stands_of
from runs.queries.visibility import visible_runs
from runs.rules.policy import Actor, Verb, require
from runs.rules.verbs import NotNow, RunVerb, why_not

DONE = {
    RunVerb.RESUME: "resumed",
    RunVerb.RETRY: "tried again",
    RunVerb.PAUSE: "paused",
    RunVerb.CORRECT: "corrected",
    RunVerb.LABEL: "labelled",
    RunVerb.CANCEL: "cancelled",
}


def held_for(actor: Actor, run_id: UUID, verb: RunVerb, *, seen: str | None = None) -> Run:
    """The run's row, locked until the caller's transaction ends, if the verb may be used on it.

    Raises NotAllowed, NoSuchRun, RunChanged, NotNow.
    """
    run = visible_as_seen(actor, run_id, seen=seen)
    if refusal := why_not(verb, stands_of(run)):
        raise NotNow(f"Run {run.reference} cannot be {DONE[verb]} now. {refusal}")
    return run


def visible_as_seen(actor: Actor, run_id: UUID, *, seen: str | None) -> Run:
    """The same for any verb; `seen` is what `seen_as` said when the actor looked."""
    require(actor, Verb.OPERATE)
    if not visible_runs(actor).filter(pk=run_id).exists():
        raise transitions.NoSuchRun(f"There is no run {run_id}.")
    run = transitions.lock(run_id)
    if seen is not None and seen != seen_as(run):
        raise transitions.RunChanged(run)
    return run
