"""The verbs of `runs` that let a run go on, stand still, or end, and correct its input."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from runs.ledger import correcting, labelling, lifecycle, pausing, resuming, retrying
from runs.management import given
from runs.management.verbs import VerbCommand
from runs.queries.in_doubt import calls_in_doubt
from runs.rules.labels import label_from
from runs.rules.policy import Actor
from runs.rules.states import RunState
from runs.rules.words import of

if TYPE_CHECKING:
    from runs.models import Run

ALL_AT_MOST = 100_000


class MovingCommand(VerbCommand):
    """`runs resume | retry | pause | cancel | label | correct`."""

    moving: tuple[tuple[str, str], ...] = (
        ("resume", "let a failed or paused run go on where it stood, or all that were paused"),
        ("retry", "have a run that waits for its next attempt tried now"),
        ("pause", "let a run stand still, at once or at its next checkpoint; or all of them"),
        ("cancel", "end a run; one that is being worked on ends at its next checkpoint"),
        ("label", "set a label of a run, or take it away: NAME=VALUE or NAME="),
        ("correct", "replace fields of the input of a run that stands still"),
    )

    def arguments_of_resume(self, parser: ArgumentParser) -> None:
        _one_or_all(parser, "all that `pause --all` has paused")
        parser.add_argument("--because", default="", metavar="TEXT", help="kept in the audit")
        parser.add_argument(
            "--deadline",
            type=given.length_of_time,
            metavar="TIME",
            help="a longer one for this run, such as 2h or 1d12h",
        )

    def arguments_of_retry(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", help="an id, a part of one, or a reference")
        parser.add_argument("--because", default="", metavar="TEXT", help="kept in the audit")

    def arguments_of_pause(self, parser: ArgumentParser) -> None:
        _one_or_all(parser, "every run that is not final and does not stand still already")
        parser.add_argument("--because", required=True, metavar="TEXT", help="kept in the audit")

    def arguments_of_cancel(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", help="an id, a part of one, or a reference")
        parser.add_argument("--because", required=True, metavar="TEXT", help="kept in the audit")

    def arguments_of_label(self, parser: ArgumentParser) -> None:
        self.arguments_of_retry(parser)
        parser.add_argument("label", metavar="NAME=VALUE", help="without a value: taken away")

    def arguments_of_correct(self, parser: ArgumentParser) -> None:
        self.arguments_of_cancel(parser)
        parser.add_argument(
            "--input", required=True, metavar="JSON", help="the fields to replace, or @FILE"
        )

    def do_resume(self, actor: Actor, *, as_json: bool, because: str, **said: Any) -> None:
        if because:
            given.short_enough(because, named="--because", most=2000)
        if said["all"]:
            tenant_id = which_of_all(actor, **said)
            done = resuming.resume_all(
                actor, because=because, tenant_id=tenant_id, at_most=ALL_AT_MOST
            )
            answer = {"resumed": _ids(done.resumed), "passed": _ids(done.passed)}
            self.say(answer, [f"{of(len(done.resumed), 'run')} resumed"], as_json=as_json)
            return
        found = _the_one(actor, **said)
        resumed = resuming.resume(actor, found.pk, because=because, deadline=said["deadline"])
        self.say(_resumed(found, resumed), _lines_of_resumed(resumed), as_json=as_json)

    def do_retry(self, actor: Actor, *, run: str, because: str, as_json: bool, **_: Any) -> None:
        if because:
            given.short_enough(because, named="--because", most=2000)
        found = given.the_run(actor, run, only_one=True)
        step = retrying.retry_now(actor, found.pk, because=because)
        answer = {**_stands(found, found.state), "step": step}
        self.say(answer, [f"run {found.pk}: step {step} is due now"], as_json=as_json)

    def do_pause(self, actor: Actor, *, as_json: bool, because: str, **said: Any) -> None:
        given.short_enough(because, named="--because", most=2000)
        if said["all"]:
            tenant_id = which_of_all(actor, **said)
            done = pausing.pause_all(
                actor, because=because, tenant_id=tenant_id, at_most=ALL_AT_MOST
            )
            answer = {
                "paused": _ids(done.paused),
                "requested": _ids(done.requested),
                "passed": _ids(done.passed),
            }
            self.say(answer, [_paused_all(done)], as_json=as_json)
            return
        found = _the_one(actor, **said)
        state = pausing.pause(actor, found.pk, because=because)
        self.say(_stands(found, state), [_line(found, state, "pause")], as_json=as_json)

    def do_cancel(self, actor: Actor, *, run: str, because: str, as_json: bool, **_: Any) -> None:
        given.short_enough(because, named="--because", most=2000)
        found = given.the_run(actor, run, only_one=True)
        state = lifecycle.cancel(actor, found.pk, because=because)
        doubts = calls_in_doubt(found.pk)
        answer = {**_stands(found, state), "in_doubt": doubts}
        self.say(answer, [_line(found, state, "end"), *_doubts(doubts)], as_json=as_json)

    def do_label(
        self, actor: Actor, *, run: str, label: str, because: str, as_json: bool, **_: Any
    ) -> None:
        if because:
            given.short_enough(because, named="--because", most=2000)
        found, (name, _equals, value) = (
            given.the_run(actor, run, only_one=True),
            label.partition("="),
        )
        wish = label_from(name, value)
        labels = labelling.label(actor, found.pk, wish, because=because)
        said = ", ".join(f"{name}={value}" for name, value in sorted(labels.items())) or "none"
        answer = {**_stands(found, found.state), "labels": labels}
        self.say(answer, [f"labels of run {found.pk}: {said}"], as_json=as_json)

    def do_correct(
        self, actor: Actor, *, run: str, because: str, as_json: bool, **said: Any
    ) -> None:
        given.short_enough(because, named="--because", most=2000)
        found = given.the_run(actor, run, only_one=True)
        values = given.json_object(said["input"], named="--input")
        corrected = correcting.correct(actor, found.pk, values=values, because=because)
        answer = {
            **_stands(found, corrected.state),
            "old_digest": corrected.old_digest,
            "new_digest": corrected.new_digest,
            "fields": [change.field for change in corrected.changes],
            "read_before": list(corrected.read_before),
        }
        self.say(answer, _lines_of_corrected(corrected), as_json=as_json)


def _one_or_all(parser: ArgumentParser, which: str) -> None:
    parser.add_argument("run", nargs="?", help="an id, a part of one, or a reference")
    parser.add_argument("--all", action="store_true", help=which)
    parser.add_argument("--tenant", help="with --all: of this tenant only")


def _the_one(actor: Actor, *, run: str | None, tenant: str | None, **_: Any) -> "Run":
    if run is None or tenant is not None:
        raise given.Misused("Name one run, or say --all (with --tenant for those of one tenant).")
    return given.the_run(actor, run, only_one=True)


def which_of_all(actor: Actor, *, run: str | None, tenant: str | None, **said: Any) -> int | None:
    if run is not None or said.get("deadline"):
        raise given.Misused("--all takes no run and no deadline.")
    return None if tenant is None else given.the_tenant(actor, tenant)


def _ids(found: Sequence[UUID]) -> list[str]:
    return [str(each) for each in found]


def _stands(run: "Run", state: str) -> dict[str, Any]:
    return {"id": str(run.pk), "reference": run.reference, "state": state}


def _line(run: "Run", state: str, verb: str) -> str:
    if state != RunState.RUNNING:
        return f"run {run.pk} is {state}"
    return f"run {run.pk} is running; it {verb}s at its next checkpoint"


def _paused_all(done: pausing.PausedAll) -> str:
    asked = f", {len(done.requested):,} more at the next checkpoint" if done.requested else ""
    return f"{of(len(done.paused), 'run')} paused{asked}; what is started from now on runs"


def _resumed(run: "Run", resumed: resuming.Resumed) -> dict[str, Any]:
    kept = resumed.kept
    return {
        **_stands(run, resumed.state),
        "step": resumed.step,
        "checkpoint": kept.checkpoint,
        "cursor": kept.cursor,
        "kept": {"steps": kept.steps, "keys": kept.keys},
        "in_doubt": list(resumed.in_doubt),
        "asks_anew": list(resumed.asks_anew),
    }


def _lines_of_resumed(resumed: resuming.Resumed) -> Iterator[str]:
    kept = resumed.kept
    yield f"run {resumed.id} is {resumed.state} at step {resumed.step}"
    cursor = f", cursor {kept.cursor:,}" if kept.cursor else ""
    yield (
        f"from checkpoint {kept.checkpoint}{cursor}; kept: {of(kept.steps, 'step')}, "
        f"{of(kept.keys, 'call')}"
    )
    for name in resumed.asks_anew:
        yield f"asked anew: {name}"
    yield from _doubts(resumed.in_doubt)


def _doubts(calls: Sequence[dict[str, Any]]) -> Iterator[str]:
    for call in calls:
        yield f"nobody knows whether it happened: {call['effect']} for {call['resource']}, key {call['key']}"


def _lines_of_corrected(corrected: correcting.Corrected) -> Iterator[str]:
    names = ", ".join(change.field for change in corrected.changes)
    yield f"run {corrected.id} is {corrected.state}; corrected: {names}"
    if corrected.read_before:
        yield f"kept as they are, with the old values: {', '.join(corrected.read_before)}"
