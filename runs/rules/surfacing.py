"""Stop and surface: what a person is told, and may choose, when a step can go no further alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runs.rules.asks import Ask, ask, option
from runs.rules.corrections import EMPTY, may_be_empty
from runs.rules.inputs import Field
from runs.rules.words import of

RESUME, RESTART = "resume", "restart"
MOST_NAMED = 20
KEPT_AS_IT_IS = "May be left empty: then it stays as it is."


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """Where a run stands still. `calls` are those of its step; `points` are checkpoints it passed.

    `foretold` is the dry run, in words, of going on, of restarting, and of each point.
    """

    step: str
    attempt: int
    checkpoint: int
    cursor: int
    finished: Sequence[str]
    later: Sequence[str]
    calls: Sequence[Mapping[str, Any]]
    fields: Sequence[Field] = ()
    read_before: Sequence[str] = ()
    may_restart: bool = False
    may_skip: bool = False
    points: Sequence[int] = ()
    foretold: Mapping[str, str] = field(default_factory=dict)

    @property
    def in_doubt(self) -> Sequence[Mapping[str, Any]]:
        return [call for call in self.calls if call["in_doubt"]]

    @property
    def confirmed(self) -> int:
        return sum(call["state"] == "confirmed" for call in self.calls)


def give_up(stopped: Stopped, *, failures: int, error_class: str, error: str) -> Ask:
    """Every attempt that the retry policy allows has failed."""
    return _asked(
        "give up",
        f"Step {stopped.step} failed {_times(failures)}. Try again?",
        stopped,
        {"failures": failures, "error_class": error_class, "error": error},
    )


def crashes(stopped: Stopped, *, crashes: int, because: str) -> Ask:
    """The step has taken its worker down too often to be tried without asking."""
    return _asked(
        "crashes",
        f"Step {stopped.step} has lost its worker {_times(crashes)}. Try again?",
        stopped,
        {"crashes": crashes, "last": because},
    )


def refused(
    stopped: Stopped, *, call: Mapping[str, Any], reason: str, redact: Sequence[str] = ()
) -> Ask:
    """The receiver said no for certain; a person may reopen the call (R7)."""
    reopen = option(
        "reopen",
        "Send it again",
        f"The same request is sent again under the same key {call['key']}.",
        danger=True,
    )
    return ask(
        "refused",
        f"{call['effect']} for {call['resource']} was refused. What now?",
        [reopen, *_others(stopped)],
        evidence={"reason": reason, **evidence_of(stopped)},
        call=call,
        redact=redact,
    )


def _asked(kind: str, text: str, stopped: Stopped, evidence: Mapping[str, Any]) -> Ask:
    again = option("again", "Try again", goes_on(stopped))
    return ask(
        kind,
        text,
        [again, *_others(stopped)],
        evidence={**evidence, **evidence_of(stopped)},
    )


def evidence_of(stopped: Stopped) -> dict[str, Any]:
    """The step in flight, and the keys of its calls."""
    named = [
        {name: call[name] for name in ("key", "effect", "resource", "state")}
        for call in stopped.calls
    ]
    return {
        "in_flight": f"step {stopped.step}, attempt {stopped.attempt}, {_place(stopped)}",
        **({"calls": named[:MOST_NAMED], "calls_total": len(named)} if named else {}),
    }


def _place(stopped: Stopped) -> str:
    cursor = f", cursor {stopped.cursor:,}" if stopped.cursor else ""
    return f"behind checkpoint {stopped.checkpoint}{cursor}"


def goes_on(stopped: Stopped) -> str:
    """What entering the step again does."""
    return (
        f"Step {stopped.step} is entered again {_place(stopped)}, with the same keys for the same "
        f"calls. {_calls(stopped)}".strip()
        + _told(stopped, RESUME)
    )


def _told(stopped: Stopped, way: str) -> str:
    said = stopped.foretold.get(way)
    return f" {said}" if said else ""


def _calls(stopped: Stopped) -> str:
    said = []
    if stopped.confirmed:
        said.append(f"{of(stopped.confirmed, 'call')} already answered is not sent again.")
    if stopped.in_doubt:
        said.append(
            f"{of(len(stopped.in_doubt), 'call')} in doubt is settled first: by its contract, its "
            "probe, or a person."
        )
    return " ".join(said)


def _others(stopped: Stopped) -> list[dict[str, Any]]:
    return [
        *([_correct(stopped)] if stopped.fields else []),
        *([_skip(stopped)] if stopped.may_skip and stopped.later and not stopped.in_doubt else []),
        *ways_to_redo(stopped),
        _cancel(stopped),
        _stop(stopped),
    ]


def _correct(stopped: Stopped) -> dict[str, Any]:
    kept = (
        f" {', '.join(stopped.read_before)} read it before and stay as they are."
        if stopped.read_before
        else ""
    )
    return option(
        "correct",
        "Correct the input",
        f"The fields you fill in replace those of the run's input, recorded with both digests.{kept} "
        f"Then: {goes_on(stopped)}",
        then="correct",
        fields={name: said for field in stopped.fields for name, said in _fields(field).items()},
    )


def _fields(field: Field) -> dict[str, Any]:
    """One for the value, and one that says it is to be the empty text, where it can be."""
    found = {field.name: _field(field)}
    if may_be_empty(field):
        label = f"{found[field.name]['label']}: make it the empty text"
        found[field.name + EMPTY] = {"type": "bool", "label": label, "required": False}
    return found


def _field(field: Field) -> dict[str, Any]:
    said = {
        "type": "str",
        "label": field.name.replace("_", " ").capitalize(),
        "required": False,
        "help": f"{(field.help or field.type).removesuffix('.')}. {KEPT_AS_IT_IS}",
    }
    choices = ["true", "false"] if field.type == "true or false" else [*map(str, field.choices)]
    return {**said, "choices": choices} if choices else said


def _skip(stopped: Stopped) -> dict[str, Any]:
    done = f" {of(stopped.confirmed, 'call')} of it stays as answered." if stopped.confirmed else ""
    return option(
        "skip",
        "Skip the step",
        f"Step {stopped.step} is not done, and recorded as skipped; nothing later reads what it "
        f"would have written.{done} The run goes on with {stopped.later[0]}.",
        then="skip",
        danger=True,
    )


def ways_to_redo(stopped: Stopped, *, abandons: str = "") -> list[dict[str, Any]]:
    """Replay and restart; a restart gives up the call of the key `abandons`, and no other (R5)."""
    others = [call for call in stopped.in_doubt if call["key"] != abandons]
    return [
        *([_replay(stopped)] if stopped.points else []),
        *([_restart(stopped, abandons=abandons)] if stopped.may_restart and not others else []),
    ]


def _replay(stopped: Stopped) -> dict[str, Any]:
    points = [0, *stopped.points]
    return option(
        "replay",
        "Replay from a checkpoint",
        "The steps behind the checkpoint you choose are redone as a new generation of this run, "
        "under the same keys. Calls already confirmed are reused by their keys; one whose request "
        f"would differ is asked about. {of(len(stopped.finished), 'step')} finished so far; 0 redoes "
        "them all.",
        then="replay",
        fields={
            "checkpoint": {
                "type": "int",
                "label": "Checkpoint",
                "required": True,
                "choices": points,
            }
        },
        details=[
            f"From {f'checkpoint {point}' if point else 'the start (0)'}:{told}"
            for point in points
            if (told := _told(stopped, str(point)))
        ],
    )


def _restart(stopped: Stopped, *, abandons: str = "") -> dict[str, Any]:
    given_up = (
        f" The call under key {abandons} is recorded as abandoned: nobody will know whether it "
        "happened."
        if abandons
        else ""
    )
    return option(
        "restart",
        "Restart as a new run",
        "A new run begins at the first step with fresh keys, and this one is superseded: what it "
        "has sent may happen a second time. If that cannot be undone, you are asked first."
        f"{given_up}{_told(stopped, RESTART)}",
        then="restart",
        danger=True,
    )


def _cancel(stopped: Stopped) -> dict[str, Any]:
    done = f"What {', '.join(stopped.finished)} did stays. " if stopped.finished else ""
    keys = ", ".join(str(call["key"]) for call in stopped.in_doubt[:MOST_NAMED])
    doubt = f" Recorded as unknown for ever: {keys}." if keys else ""
    return option(
        "cancel",
        "Cancel the run",
        f"The run ends as cancelled in step {stopped.step} and never changes again. {done}"
        f"Nothing more is sent.{doubt}",
        then="cancel",
    )


def _stop(stopped: Stopped) -> dict[str, Any]:
    return option(
        "stop",
        "Stop",
        f"The run stops as failed in step {stopped.step}; its checkpoints stay, and it can be "
        "resumed, replayed or restarted later.",
        then="fail",
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
