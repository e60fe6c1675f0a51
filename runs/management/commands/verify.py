"""The command `verify`: check every invariant that the database can show."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from runs.ledger.transitions import NoSuchRun
from runs.management import given
from runs.management.acting import actor_named
from runs.queries.verify import violations
from runs.rules.bundle_checks import faults_of, notes_of
from runs.rules.violations import Violation
from runs.rules.words import of


class Command(BaseCommand):
    help = (
        "Checks all that can be checked on the database: chains, checkpoints, results, calls and "
        "what allowed them, waits, assignments, guards. With --bundle checks an exported run and "
        "needs no database. Ends with 1 when anything is wrong."
    )
    requires_system_checks = []  # It says itself what is wrong.

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--run", action="append", help="only this run; may be repeated")
        parser.add_argument("--files", action="store_true", help="read every artifact too")
        parser.add_argument("--bundle", type=Path, metavar="FILE", help="a run that was exported")
        parser.add_argument(
            "--head", default="", help="with --bundle: the end of its chain, as you know it"
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")

    def handle(self, *args: Any, run: list[str] | None, as_json: bool, **options: Any) -> None:
        if options["bundle"] is not None:
            self._check_bundle(options["bundle"], head=options["head"], as_json=as_json)
            return
        try:
            meant = [given.the_run(actor_named(None), text).pk for text in run] if run else None
            found = violations(meant, files=options["files"])
        except NoSuchRun as unknown:
            raise CommandError(str(unknown), returncode=1) from None
        except given.Misused as misused:
            raise CommandError(str(misused), returncode=2) from None
        except Error as error:
            raise CommandError(f"The database cannot be checked: {error}", returncode=1) from error
        self._print(found, as_json=as_json)
        if found:
            raise CommandError(of(len(found), "violation"), returncode=1)

    def _check_bundle(self, file: Path, *, head: str, as_json: bool) -> None:
        if not file.is_file():
            raise CommandError(f"There is no file {file}.", returncode=2)
        found = faults_of(file, head=head)
        notes = [] if found else notes_of(file)
        if as_json:
            listed = {"bundle": str(file), "faults": found, "notes": notes}
            self.stdout.write(json.dumps(listed, ensure_ascii=False, indent=2))
        else:
            for fault in found:
                self.stdout.write(fault)
        if found:
            raise CommandError(of(len(found), "fault"), returncode=1)
        if not as_json:
            known = (
                ""
                if head
                else (
                    " Whoever forges all of it makes its digests anew: check the end of its chain, as you "
                    "noted it, with --head."
                )
            )
            told = " ".join([f"{file.name} is whole, and its parts fit each other.", *notes])
            self.stdout.write(f"{told}{known}")

    def _print(self, found: list[Violation], *, as_json: bool) -> None:
        if as_json:
            listed = {"violations": [asdict(violation) for violation in found]}
            self.stdout.write(json.dumps(listed, ensure_ascii=False, indent=2))
            return
        for violation in found:
            where = f"run {violation.run}: " if violation.run else ""
            self.stdout.write(f"{violation.invariant:<4} {where}{violation.text}")
        if not found:
            self.stdout.write("Every invariant holds.")
