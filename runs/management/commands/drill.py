"""The command `drill`: kill a workflow's workers at its steps, and say whether every invariant held."""

import json
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import Error, OperationalError, connection

from runs.definition.registry import UnknownWorkflow
from runs.ledger import drills
from runs.ledger.tenants import NoSuchTenant
from runs.management import given
from runs.management.acting import UnknownActor, actor_named
from runs.management.drills import conduct, outside
from runs.management.drills.asked import Asked
from runs.management.drills.stage import Stage
from runs.management.scratch_postgresql import NoPostgreSQL
from runs.queries import drills as drilled
from runs.queries import memberships
from runs.rules import inputs
from runs.rules.canonical import NotCanonical
from runs.rules.crash_points import POINTS, SAYS
from runs.rules.drill_report import DrillReport, DrillState
from runs.rules.inputs import InvalidInput
from runs.rules.plan import BrokenWorkflow
from runs.rules.words import of, span

MISUSED = (
    given.Misused,
    UnknownActor,
    NoSuchTenant,
    UnknownWorkflow,
    BrokenWorkflow,
    InvalidInput,
    NotCanonical,
    conduct.NoSuchStep,
)


class Command(BaseCommand):
    help = (
        "Rehearses failure: runs a workflow on a scratch database with real workers, kills them, and "
        "checks every invariant. Its real receivers are never touched: every effect goes to a "
        "counting one. The report is stored here. Ends with 1 on a violation."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("workflow", nargs="?", default="ten_steps")
        parser.add_argument("--version-of", type=int, metavar="N", help="not its latest version")
        parser.add_argument(
            "--input",
            default="{}",
            metavar="JSON",
            help="an object, or @FILE; in place of drilled_with",
        )
        parser.add_argument("--kill-after", default="", metavar="3,6,9", help="after these steps")
        for name, says in FLAGS.items():
            parser.add_argument(f"--{name}", action="store_true", help=says)
        parser.add_argument("--random", type=int, metavar="SEED", help="strike at random")
        parser.add_argument("--runs", type=int, default=1, metavar="N", help="how many runs")
        parser.add_argument("--workers", type=int, default=2, metavar="N")
        parser.add_argument(
            "--patience",
            metavar="SECONDS",
            type=float,
            default=60.0,
            help="how long a run may stand still",
        )
        parser.add_argument(
            "--postgresql-url", default="", help="a server for the scratch database"
        )
        parser.add_argument("--tenant", default=memberships.DEFAULT, help="whose its report is")
        parser.add_argument("--list", action="store_true", help="name every crash point")
        parser.add_argument("--as", dest="who", metavar="USER", help="act as this user")
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument("--on-this-database", action="store_true", help=SUPPRESS)
        # A page has said that it is under way; that is its id.
        parser.add_argument("--begun", type=UUID, help=SUPPRESS)

    def handle(self, *_args: Any, **said: Any) -> None:
        if said["list"]:
            self._list(as_json=said["json"])
            return
        if said["on_this_database"]:
            _inner(Path(settings.VAR_DIR))
            return
        try:
            report = self._drill(said)
        except MISUSED as misused:
            raise CommandError(str(misused), returncode=2) from None
        except Error as error:
            raise CommandError(f"The report cannot be stored: {error}", returncode=1) from error
        self._print(report, as_json=said["json"])
        if report.state is not DrillState.PASSED:
            raise SystemExit(1)

    def _drill(self, said: dict[str, Any]) -> DrillReport:
        actor, asked, tenant = actor_named(said["who"]), _asked(said), said["tenant"]
        drilled.require_room()
        begun = said["begun"] or drills.begin(
            actor, workflow=asked.workflow, command=asked.command, tenant=tenant
        )
        try:
            report = outside.drill_on_scratch(
                asked,
                postgresql_url=said["postgresql_url"],
                stopped_by=partial(_stopped_by, begun),
            )
        except NoPostgreSQL as broke:
            report = conduct.aborted(asked, datetime.now(UTC), because=str(broke))
        except BaseException:
            drills.let_go(begun)
            raise
        drills.keep(actor, report, tenant=tenant, under_way=begun)
        return report

    def _list(self, *, as_json: bool) -> None:
        if as_json:
            points = [{"point": point, "says": SAYS[point]} for point in POINTS]
            self.stdout.write(json.dumps({"points": points}, indent=2))
            return
        for point in POINTS:
            self.stdout.write(f"{point:22} {SAYS[point]}")

    def _print(self, report: DrillReport, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(report.as_json(), ensure_ascii=False, indent=2))
            return
        for line in lines_of(report):
            self.stdout.write(line)


def _stopped_by(drill_id: UUID) -> str:
    """A drill does not end because this database is away for a moment."""
    try:
        return drills.go_on(drill_id)
    except OperationalError:
        connection.close()
        return ""


FLAGS = {
    "redeliver": "ring doorbells and deliver events more than once",
    "timeout-first": "the receiver does not answer the first time it hears of a key",
    "db-restart": "take the database away once, half way",
    "zombie": "stop a worker past its lease, let another finish, wake it",
    "matrix": "strike once at every crash point of every step",
}


def _asked(said: dict[str, Any]) -> Asked:
    data = given.json_object(said["input"], named="--input")
    if said["runs"] < 1 or said["workers"] < 1:
        raise given.Misused("--runs and --workers are whole numbers of 1 or more.")
    if said["db_restart"] and said["postgresql_url"]:
        raise given.Misused(
            "--db-restart restarts a server of its own; leave out --postgresql-url."
        )
    kills = _numbers(said["kill_after"])
    asked = Asked(
        workflow=said["workflow"],
        version=said["version_of"],
        data=data,
        kill_after=kills,
        seed=said["random"],
        every=said["matrix"],
        command=_command(said),
        **{name: said[name] for name in ("runs", "workers", "patience")},
        **{flag.replace("-", "_"): said[flag.replace("-", "_")] for flag in FLAGS},
    )
    plan = conduct.plan_asked_for(asked)
    conduct.require_steps(plan, kills)
    asked = _with_input(asked)
    return asked if _names_a_fault(said) else conduct.usual(asked, plan)


def _with_input(asked: Asked) -> Asked:
    workflow = conduct.class_asked_for(asked)
    data = {**workflow.drilled_with, **asked.data}
    try:
        inputs.validated(workflow, data)
    except InvalidInput as invalid:
        raise given.Misused(
            f"{invalid}. Give it with --input, or write drilled_with = {{...}} in the workflow."
        ) from None
    return replace(asked, data=data)


def _names_a_fault(said: dict[str, Any]) -> bool:
    flags = any(said[flag.replace("-", "_")] for flag in FLAGS)
    return flags or bool(said["kill_after"]) or said["random"] is not None


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise given.Misused(
            f"--kill-after takes numbers of steps, such as 3,6,9; not {text!r}."
        ) from None


def _command(said: dict[str, Any]) -> str:
    """The command as it may be typed again; the input may be long or private, so only that it was there."""
    parts = ["drill", said["workflow"]]
    parts += ["--input …"] if said["input"] != "{}" else []
    parts += [f"--kill-after {said['kill_after']}"] if said["kill_after"] else []
    parts += [f"--{flag}" for flag in FLAGS if said[flag.replace("-", "_")]]
    parts += [f"--random {said['random']}"] if said["random"] is not None else []
    parts += [f"--runs {said['runs']}"] if said["runs"] > 1 else []
    return " ".join(parts)


def _inner(folder: Path) -> None:
    """What the drill itself starts on the database that it has made."""
    asked = Asked.from_text((folder / "asked.json").read_text("utf-8"))
    call_command("migrate", verbosity=0)
    report = conduct.conduct(asked, Stage(folder=folder, environment=outside.own_environment()))
    draft = folder / "report.draft"
    draft.write_text(report.to_text(), "utf-8")
    draft.replace(folder / "report.json")


def lines_of(report: DrillReport) -> Iterator[str]:
    yield f"{report.workflow} version {report.version} on {report.database}: {report.state}"
    yield report.sentence
    yield ""
    yield f"{of(report.kills, 'kill')}, {of(report.redeliveries, 'redelivery', 'redeliveries')}"
    yield f"receiver: {of(report.effects, 'effect')} under {of(report.keys, 'key')}"
    saved = f", which saved {report.cost_avoided:g}" if report.cost_avoided else ""
    yield f"{of(report.calls_avoided, 'call')} avoided by keys already answered{saved}"
    if report.recovery.median is not None and report.recovery.maximum is not None:
        longest = span(report.recovery.maximum)
        yield f"recovery: median {span(report.recovery.median)}, longest {longest}"
    if report.recovery.restart_median is not None and report.recovery.restart_maximum is not None:
        longest = span(report.recovery.restart_maximum)
        yield f"from a worker's restart: median {span(report.recovery.restart_median)}, longest {longest}"
    yield from (resumed.sentence for resumed in report.resumes)
    for seen in report.observed:
        undeclared = "undeclared: " if seen.undeclared else "seen: "
        yield undeclared + seen.sentence
    for violation in report.violations:
        yield f"{violation.invariant:<4} {violation.text}"
