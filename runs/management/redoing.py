"""The verbs of `runs` that do something again: replay in the same run, restart as a new one."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runs.ledger import compensating, replaying, restarting
from runs.management import given
from runs.management.moving import ALL_AT_MOST, MovingCommand, which_of_all
from runs.queries import undoing
from runs.queries.fleet import would_resume
from runs.queries.preview import replay_preview, restart_preview, resume_preview
from runs.queries.shown_preview import preview_shown, undo_shown
from runs.queries.verbs import stands_of
from runs.rules.policy import Actor
from runs.rules.preview import Preview
from runs.rules.undoing import NotConfirmed
from runs.rules.verbs import RunVerb, why_not
from runs.rules.words import of


class RedoingCommand(MovingCommand):
    """`runs replay | restart`, and the dry run of them and of resuming."""

    redoing: tuple[tuple[str, str], ...] = (
        ("replay", "do the steps behind a checkpoint again, in the same run, under the same keys"),
        ("restart", "begin a new run with fresh keys in place of this one"),
        ("compensate", "have a confirmed call undone by what its effect declares, once"),
    )

    def arguments_of_replay(self, parser: ArgumentParser) -> None:
        _common(parser)
        parser.add_argument(
            "--from", dest="checkpoint", type=int, required=True, metavar="N",
            help="the checkpoint to go back to; 0 is the beginning",
        )  # fmt: skip
        parser.add_argument(
            "--forget-judgements", action="store_true", help="judge anew; otherwise they are kept"
        )

    def arguments_of_restart(self, parser: ArgumentParser) -> None:
        _common(parser)
        parser.add_argument(
            "--from", dest="checkpoint", type=int, metavar="N",
            help="copy the steps done up to this checkpoint instead of doing them again",
        )  # fmt: skip
        parser.add_argument(
            "--abandon", action="append", default=[], metavar="KEY",
            help="a call of which nobody will ever know whether it happened; as often as needed",
        )  # fmt: skip

    def arguments_of_compensate(self, parser: ArgumentParser) -> None:
        _common(parser)
        parser.add_argument("--key", required=True, help="of the call that is to be undone")
        parser.add_argument(
            "--confirm", default="", metavar="TEXT",
            help="the last 6 characters of that key, where the undo cannot itself be undone",
        )  # fmt: skip

    def arguments_of_resume(self, parser: ArgumentParser) -> None:
        super().arguments_of_resume(parser)
        parser.add_argument("--dry-run", action="store_true", help="only say what would happen")

    def do_replay(self, actor: Actor, *, run: str, as_json: bool, **said: Any) -> None:
        found, forget = given.the_run(actor, run, only_one=True), said["forget_judgements"]
        if said["checkpoint"] < 0:
            raise given.Misused(f"--from is a checkpoint's number, not {said['checkpoint']}.")
        if said["dry_run"]:
            self._show_preview(
                replay_preview(found, checkpoint=said["checkpoint"], forget_judgements=forget),
                as_json=as_json,
            )
            return
        done = replaying.replay(
            actor,
            found.pk,
            checkpoint=said["checkpoint"],
            because=_because(said),
            forget_judgements=forget,
        )
        answer = {
            "id": str(done.id),
            "reference": found.reference,
            "state": done.state,
            "generation": done.generation,
            "step": done.step,
        }
        text = f"run {done.id} is {done.state}; generation {done.generation} begins at {done.step}"
        self.say(answer, [text], as_json=as_json)

    def do_restart(self, actor: Actor, *, run: str, as_json: bool, **said: Any) -> None:
        found, abandon = given.the_run(actor, run, only_one=True), said["abandon"]
        checkpoint = said["checkpoint"]
        if said["dry_run"]:
            seen = restart_preview(found, checkpoint=checkpoint, abandon=abandon)
            self._show_preview(seen, as_json=as_json)
            return
        done = restarting.restart(
            actor, found.pk, because=_because(said), checkpoint=checkpoint, abandon=abandon
        )
        answer = {
            "id": str(done.id),
            "reference": found.reference,
            "state": done.state,
            "asks": done.asks,
            "restart_of": {"id": str(found.pk), "state": done.old_state},
        }
        self.say(answer, _lines_of_restarted(done), as_json=as_json)

    def do_compensate(
        self, actor: Actor, *, run: str, key: str, as_json: bool, **said: Any
    ) -> None:
        found = given.the_run(actor, run, only_one=True)
        if said["dry_run"]:
            self._show_undo(undoing.undo_page(actor, found.pk, key), key=key, as_json=as_json)
            return
        try:
            done = compensating.compensate(
                actor, found.pk, key=key, because=_because(said), typed=said["confirm"]
            )
        except NotConfirmed as missing:
            raise given.Misused(f"{missing} (--confirm)") from None
        answer = {
            "id": str(done.id),
            "reference": found.reference,
            "state": done.state,
            "undoes": key,
            "undo": {"effect": done.undo, "key": done.key},
        }
        text = f"run {done.id} is {done.state}; {done.undo} leaves under {done.key} to undo {key}"
        self.say(answer, [text], as_json=as_json)

    def do_resume(self, actor: Actor, *, as_json: bool, because: str, **said: Any) -> None:
        if not said.pop("dry_run"):
            super().do_resume(actor, as_json=as_json, because=because, **said)
            return
        if said["all"]:
            rows = would_resume(actor, tenant_id=which_of_all(actor, **said), at_most=ALL_AT_MOST)
            self.say({"would": rows}, lines_of_resumes(rows), as_json=as_json)
            return
        if said["run"] is None:
            raise given.Misused("Name one run, or say --all.")
        found = given.the_run(actor, said["run"])
        refusal = why_not(RunVerb.RESUME, stands_of(found))
        self._show_preview(resume_preview(found, refusal=refusal), as_json=as_json)

    def _show_undo(self, page: undoing.UndoPage | None, *, key: str, as_json: bool) -> None:
        if page is None:
            raise given.NotThere(f"The run has made no call under the key {key}.")
        told = undo_shown(page)
        self.say(told, lines_of_undo(told), as_json=as_json)
        if page.refusal:
            raise SystemExit(1)

    def _show_preview(self, seen: Preview, *, as_json: bool) -> None:
        told = preview_shown(seen)
        self.say(told, lines_of_preview(told), as_json=as_json)
        if seen.refusal:
            raise SystemExit(1)


def _common(parser: ArgumentParser) -> None:
    parser.add_argument("run", help="an id, a part of one, or a reference")
    parser.add_argument("--because", default="", metavar="TEXT", help="kept in the audit")
    parser.add_argument("--dry-run", action="store_true", help="only say what would happen")


def _because(said: Mapping[str, Any]) -> str:
    return given.short_enough(said["because"], named="--because", most=2000)


def _lines_of_restarted(done: restarting.Restarted) -> Iterator[str]:
    yield f"run {done.id} is {done.state}; the old one is {done.old_state}"
    if done.asks:
        yield "It begins when a person has decided: manage.py decisions list"
    elif done.state == "waiting":
        yield "It begins as soon as the old one's worker has let go."


def lines_of_undo(told: Mapping[str, Any]) -> Iterator[str]:
    """The dry run of an undo for people."""
    yield "compensate: nothing has been done"
    yield f"cannot be done now: {told['refusal']}" if told["refusal"] else told["happens"]
    if told["confirm"]:
        yield f"it cannot itself be undone: say --confirm {told['confirm']}"


def lines_of_resumes(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What resuming all would do, run by run."""
    able = sum(not row["refusal"] for row in rows)
    yield f"resume: nothing has been done; {of(able, 'run')} would go on, {len(rows) - able:,} would not"
    for row in rows:
        said = f"cannot be resumed: {row['refusal']}" if row["refusal"] else row["then"]
        yield f"  {row['id']}  {row['reference']}, {row['state']} at {row['step']}: {said}"


def lines_of_preview(told: Mapping[str, Any]) -> Iterator[str]:
    """A dry run for people."""
    yield f"{told['posture']}, generation {told['generation']}: nothing has been done"
    if told["refusal"]:
        yield f"cannot be done now: {told['refusal']}"
    for step in told["steps"]:
        yield f"  {step['ordinal']:>3} {step['fate']:<13} {step['key']}: {step['because']}"
    keys, judged = told["keys"], told["judgements"]
    yield f"keys: {keys['same']:,} same, {keys['new']:,} new"
    yield f"judgements: {judged['kept']:,} kept, {judged['forgotten']:,} forgotten"
    for call in told["calls"]:
        yield f"  {call['fate']:<5} {call['key']} {call['effect']} {call['resource']}: {call['then']}"
    twice = told["repeated"]
    if twice["total"]:
        yield f"{of(twice['total'], 'effect')} would happen a second time, {twice['irreversible']:,} cannot be undone:"
        for one in twice["effects"]:
            yield f"  {one['effect']} {one['resource']} ({one['state']}): {one['reversibility']}"
    yield from told["warnings"]
