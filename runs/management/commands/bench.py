"""Benchmarks: figures as ratios to a bare driver, taken in turns in one run."""

import json
import sys
from argparse import ArgumentParser
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from runs.management import scratch
from runs.management.benchmarks.known import known
from runs.management.scratch_postgresql import NoPostgreSQL

KINDS = ("postgresql", "sqlite")


class Command(BaseCommand):
    help = (
        "Measure steps a second, pings a second, or the latency of a start and of an approval, on "
        "scratch databases of their own; nothing of this installation is touched."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", choices=list(known()))
        usual = ", ".join(f"{name}: {each.runs}" for name, each in known().items())
        parser.add_argument("--runs", type=int, help=f"how many runs, or pings ({usual})")
        parser.add_argument("--only", choices=KINDS, help="one kind of database")
        parser.add_argument(
            "--postgresql-url",
            default="",
            help="a server to make the scratch database on; else one is started",
        )
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument("--on-this-database", action="store_true", help="used by itself")

    def handle(self, *_args: Any, what: str, **options: Any) -> None:
        runs = known()[what].runs if options["runs"] is None else options["runs"]
        if runs < 1:
            raise CommandError("--runs is a whole number of 1 or more.", returncode=2)
        if options["on_this_database"]:
            call_command("migrate", verbosity=0)
            figures = known()[what].measure(runs=runs, scratch=Path(settings.VAR_DIR))
            self.stdout.write(json.dumps(figures))
            return
        kinds = [options["only"]] if options["only"] else list(KINDS)
        results = {kind: self._measure(kind, what, runs, options) for kind in kinds}
        if options["json"]:
            self.stdout.write(json.dumps(results, indent=2))
        else:
            self._print(what, results)

    def _measure(
        self, kind: str, what: str, runs: int, options: dict[str, Any]
    ) -> dict[str, Any] | None:
        try:
            with _scratch(kind, options["postgresql_url"]) as place:
                done = place.manage("bench", what, "--runs", str(runs), "--on-this-database")
        except NoPostgreSQL as why:
            self.stderr.write(f"postgresql: not measured. {why} Or give --postgresql-url.")
            return None
        if done.returncode:
            raise CommandError(f"The benchmark on {kind} failed.", returncode=1)
        figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return figures

    def _print(self, what: str, results: dict[str, dict[str, Any] | None]) -> None:
        for kind, figures in results.items():
            for name, value in (figures or {}).items():
                self.stdout.write(f"{what:8} {kind:11} {name:22} {value:>10}")
        sys.stdout.flush()


def _scratch(kind: str, url: str) -> AbstractContextManager[scratch.Scratch]:
    if kind == "sqlite":
        return scratch.scratch_sqlite()
    return scratch.scratch_postgresql(url=url)
