"""What people can do with a run as it stands, and the sentence that says why not."""

from dataclasses import dataclass
from enum import StrEnum

from runs.rules.asks import AFTER_FAILURE
from runs.rules.states import FINAL, RunState, WaitKind


class RunVerb(StrEnum):
    """What a person does to a run; each is a resource of its own on the pages."""

    RESUME = "resume"
    RETRY = "retry"
    PAUSE = "pause"
    CORRECT = "correct"
    LABEL = "label"
    CANCEL = "cancel"


class NotNow(Exception):
    """This cannot be done to the run as it stands; the message says why, and what can be."""


# What these do is the same for every run to which they are done.
WHATEVER_IT_IS = {
    RunVerb.LABEL: "Its label is set, and the change recorded. Nothing else changes.",
    RunVerb.RETRY: "Its step is tried again now instead of later, with the attempts it has left.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stands:
    """What decides: the state, what is requested of the holder, and what is waited for."""

    state: RunState
    cancel_requested: bool = False
    pause_requested: bool = False
    supersede_requested: bool = False
    waits_for: str = ""
    ask_kind: str = ""


def why_not(verb: RunVerb, stands: Stands) -> str:
    """Empty when the verb may be used."""
    if stands.state in FINAL:
        return (
            f"It is {stands.state.value}, and such a run never changes again. "
            "Restart it as a new run instead."
        )
    if verb is not RunVerb.CANCEL and (stands.cancel_requested or stands.supersede_requested):
        ends = "superseded" if stands.supersede_requested else "cancelled"
        return f"It is being {ends}: its worker ends it at its next checkpoint."
    match verb:
        case RunVerb.RESUME:
            return _why_no_resume(stands)
        case RunVerb.RETRY:
            return _why_no_retry(stands)
        case RunVerb.PAUSE:
            return _why_no_pause(stands)
        case RunVerb.CORRECT:
            return _why_no_correction(stands)
        case _:
            return ""


def _why_no_resume(stands: Stands) -> str:
    match stands.state:
        case RunState.QUEUED:
            return "It is queued already: the next free worker takes it."
        case RunState.RUNNING if not stands.pause_requested:
            return "A worker is working on it; there is nothing to resume."
        case RunState.WAITING if stands.waits_for == "decision":
            return "It waits for a decision: answer that, and it goes on."
        case RunState.WAITING:
            return f"It waits for its {stands.waits_for or 'wait'}, and goes on by itself then."
        case _:
            return ""


def _why_no_retry(stands: Stands) -> str:
    if stands.state is RunState.PAUSED and stands.waits_for == WaitKind.RETRY:
        return "It is paused: resume it, and its retry is due when it was due."
    if stands.state is RunState.WAITING and stands.waits_for == WaitKind.RETRY:
        return ""
    return "It does not wait until a step is tried again."


def _why_no_pause(stands: Stands) -> str:
    match stands.state:
        case RunState.PAUSED:
            return "It is paused already."
        case RunState.FAILED:
            return "It has failed, so it stands still until somebody resumes it."
        case RunState.WAITING if stands.ask_kind == "restart" or stands.waits_for == "capacity":
            return "It has not begun: it stands ready to take another run's place."
        case RunState.RUNNING if stands.pause_requested:
            return "It is asked to pause already: it does at its next checkpoint."
        case _:
            return ""


def _why_no_correction(stands: Stands) -> str:
    if stands.state in (RunState.PAUSED, RunState.FAILED):
        return ""
    if stands.state is RunState.WAITING and stands.ask_kind in AFTER_FAILURE:
        return ""
    return (
        f"It is {stands.state.value}, and its input may be in use. Pause it first; the input of a "
        "run is corrected while it has failed, is paused, or asks what to do after a failure."
    )


def what_happens(verb: RunVerb, stands: Stands) -> str:
    """What using the verb does to a run that stands so; never reached where `why_not` speaks."""
    if said := WHATEVER_IT_IS.get(verb):
        return said
    match verb, stands.state:
        case RunVerb.RESUME, RunState.RUNNING:
            return "The request to pause is taken back, and its worker goes on."
        case RunVerb.RESUME, RunState.PAUSED if stands.waits_for:
            return (
                f"It waits again for its {stands.waits_for}; an expiry is put off by the time it "
                "was paused."
            )
        case RunVerb.RESUME, _:
            return (
                "It is queued at its first incomplete step, which is entered again behind the last "
                "checkpoint. What is finished stays; a call already answered is not sent again."
            )
        case RunVerb.CORRECT, _:
            return (
                "The new values replace the old ones; both digests are recorded. Steps that are "
                "finished stay as they are, and so do the keys of what was sent: a call whose "
                "request then differs is asked about. The run goes on only when it is resumed or "
                "its decision is answered."
            )
        case _, RunState.RUNNING:
            return (
                "A worker is in the middle of a step: this is requested now, and done at its next "
                "checkpoint, or when the worker is found dead."
            )
        case RunVerb.PAUSE, _:
            return (
                "It stands still until somebody resumes it. Answers and events that come meanwhile "
                "are kept; an expiry waits."
            )
        case _:
            return (
                "It ends for good: nothing more is sent, open questions are withdrawn, and it never "
                "changes again. What its steps did stays."
            )
