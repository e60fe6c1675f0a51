"""The command `runs`: start them, see them, move them."""

from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runs.ledger import lifecycle
from runs.management import exporting, given, waiting, wording
from runs.management.auditing import AuditingCommand
from runs.management.noting import NotingCommand
from runs.management.redoing import RedoingCommand
from runs.queries import memberships, pages_runs, shown
from runs.queries.clock import db_now
from runs.queries.why import why_of
from runs.rules.policy import Actor
from runs.rules.states import RunState

if TYPE_CHECKING:
    from runs.models import Run

MOST_LISTED = 1000
INTERRUPTED = 130


class Command(RedoingCommand, NotingCommand, AuditingCommand):
    help = "Starts runs, lists and shows them, says why one is not moving, moves one that should."
    verbs = (
        ("start", "start a run of a workflow"),
        ("list", "runs, the newest first"),
        ("show", "one run with its steps"),
        ("why", "why a run stands where it stands, and what comes next"),
        *AuditingCommand.auditing,
        (
            "export",
            "all that is known of a run, in one file that can be checked without a database",
        ),
        *RedoingCommand.moving,
        *RedoingCommand.redoing,
        *NotingCommand.noting,
    )

    def arguments_of_start(self, parser: ArgumentParser) -> None:
        parser.add_argument("workflow")
        parser.add_argument("--input", default="{}", metavar="JSON", help="an object, or @FILE")
        parser.add_argument("--reference", help="what people will know the run by")
        parser.add_argument("--label", action="append", default=[], metavar="NAME=VALUE")
        parser.add_argument("--start-key", help="the same key and input answer with the same run")
        parser.add_argument("--version", type=int, help="of the workflow; otherwise the latest")
        parser.add_argument("--tenant", default=memberships.DEFAULT)
        parser.add_argument("--wait", action="store_true", help="until the run has ended or failed")
        parser.add_argument(
            "--until-parked", action="store_true", help="wait, at most until it asks somebody"
        )

    def arguments_of_list(self, parser: ArgumentParser) -> None:
        states = ["open", *(state.value for state in RunState)]
        parser.add_argument("--state", default="", choices=states, metavar="|".join(states))
        parser.add_argument("--workflow", default="")
        parser.add_argument("--limit", type=int, default=20, help=f"1 to {MOST_LISTED:,}")

    def arguments_of_show(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", help="an id, a part of one, or a reference")

    arguments_of_why = arguments_of_show

    def arguments_of_export(self, parser: ArgumentParser) -> None:
        self.arguments_of_show(parser)
        parser.add_argument("--to", required=True, type=Path, metavar="FILE", help="is replaced")

    def do_start(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        if said["start_key"] is not None:
            given.short_enough(said["start_key"], named="--start-key", most=200)
        started = lifecycle.start(
            actor,
            workflow=said["workflow"],
            data=given.json_object(said["input"], named="--input"),
            reference=said["reference"],
            labels=given.labels(said["label"]),
            start_key=said["start_key"],
            version=said["version"],
            tenant=said["tenant"],
        )
        waits = said["wait"] or said["until_parked"]
        answer = {"id": str(started.id), "reference": started.reference, "state": started.state}
        if waits and as_json:
            self._aside(f"run {started.id}")
        else:
            known = "" if started.created else ", started before under this start key"
            self.say(answer, [f"run {started.id} is {started.state}{known}"], as_json=as_json)
        if waits:
            run = given.the_run(actor, str(started.id))
            self._wait(run, until_parked=said["until_parked"], as_json=as_json)

    def _wait(self, run: "Run", *, until_parked: bool, as_json: bool) -> None:
        try:
            last = waiting.wait_for(run.pk, self._show(run), until_parked=until_parked)
        except KeyboardInterrupt:
            self._aside(f"The run goes on by itself: manage.py runs show {run.pk}")
            raise SystemExit(INTERRUPTED) from None
        run.refresh_from_db()
        answer = {
            "id": str(run.pk),
            "reference": run.reference,
            "state": run.state,
            "audit_line": shown.last_audit_line(run),
        }
        self.say(answer, [f"run {run.pk} is {run.state}", why_of(run).sentence], as_json=as_json)
        if last.state in waiting.ENDS and last.state is not RunState.SUCCEEDED:
            raise SystemExit(1)

    def _show(self, run: "Run") -> waiting.Show:
        if self.stderr.isatty():
            return waiting.Bar(self.stderr._out, steps_total=run.steps_total)
        return waiting.Lines(self._aside)

    def _aside(self, text: str) -> None:
        """Beside the answer: what a program that reads the answer does not read."""
        self.stderr.write(text, style_func=lambda plain: plain)

    def do_list(
        self, actor: Actor, *, state: str, workflow: str, limit: int, as_json: bool, **_: Any
    ) -> None:
        if not 1 <= limit <= MOST_LISTED:
            raise given.Misused(f"--limit is 1 to {MOST_LISTED:,}, not {limit}.")
        now = db_now()
        wanted = pages_runs.Wanted(state=state, workflow=workflow)
        runs = pages_runs.wanted_runs(actor, wanted, now=now)
        found = pages_runs.page_of(runs, wanted, position=None, size=limit)
        rows = pages_runs.rows_of(found.rows, now=now)
        listed = [shown.run_listed(row.run, row.why) for row in rows]
        self.say({"runs": listed}, wording.lines_of_list(listed), as_json=as_json)

    def do_show(self, actor: Actor, *, run: str, as_json: bool, **_: Any) -> None:
        found = shown.run_shown(given.the_run(actor, run))
        self.say(found, wording.lines_of_run(found), as_json=as_json)

    def do_why(self, actor: Actor, *, run: str, as_json: bool, **_: Any) -> None:
        found = given.the_run(actor, run)
        why, limits = shown.why_shown(why_of(found)), shown.limits_shown(found)
        moves = shown.moves_shown(found)
        stands = {"id": str(found.pk), "state": found.state, "why": why}
        answer = {**stands, "limits": limits, **moves}
        lines = [
            *wording.lines_of_why(why),
            *wording.lines_of_went_on(moves),
            *wording.lines_of_limits(limits),
        ]
        self.say(answer, lines, as_json=as_json)

    def do_export(self, actor: Actor, *, run: str, to: Path, as_json: bool, **_: Any) -> None:
        found = given.the_run(actor, run)
        told = exporting.export(actor, found, to)
        lines = [
            f"{to} holds all that is known of run {found.reference}.",
            f"Its chain ends with {told['head']}: note that elsewhere.",
            f"Check it anywhere: manage.py verify --bundle {to} --head {told['head']}",
        ]
        self.say(told, lines, as_json=as_json)
