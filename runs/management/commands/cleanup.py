"""The command `cleanup`: take away what is over for so long that nobody looks for it any more."""

import json
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from runs.engine import retention
from runs.engine.retention import Removed
from runs.management.acting import UnknownActor, actor_named
from runs.management.away import database_away
from runs.queries.clock import db_now
from runs.rules.policy import NotAllowed, Verb, require


class Command(BaseCommand):
    help = (
        "Takes away what has been over for longer than KEEP_DAYS: closed incidents with their alerts "
        "and messages, verdicts before the last one, monitors that were put away, times of blindness, "
        "windows, and runs' selections that nobody began so long, never the runs in them. Nothing that "
        "is open, nothing younger, and no audit."
    )
    requires_system_checks = []  # A broken workflow must not keep it from cleaning up.

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would go, write nothing"
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")
        parser.add_argument("--as", dest="who", metavar="USER", help="act as this user")

    def handle(
        self, *args: Any, dry_run: bool, as_json: bool, who: str | None, **options: Any
    ) -> None:
        try:
            actor = actor_named(who)
            require(actor, Verb.ADMINISTER)
            before = db_now() - timedelta(days=settings.KEEP_DAYS)
            if dry_run:
                done = retention.would_go(before)
            else:
                done = retention.clean_up(before, by=actor.name)
        except UnknownActor as unknown:
            raise CommandError(str(unknown), returncode=2) from None
        except NotAllowed as refused:
            raise CommandError(str(refused), returncode=1) from None
        except Error as error:
            raise database_away(error) from error
        self._say(done, dry_run=dry_run, as_json=as_json)

    def _say(self, done: list[Removed], *, dry_run: bool, as_json: bool) -> None:
        if as_json:
            amounts = {each.name: each.amount for each in done}
            value = {"days": settings.KEEP_DAYS, "dry_run": dry_run, "removed": amounts}
            self.stdout.write(json.dumps(value, indent=2))
            return
        verb = "would go" if dry_run else "went"
        for each in done:
            self.stdout.write(f"{each.amount:>8}  {each.name}")
        total = sum(each.amount for each in done)
        self.stdout.write(f"{total} rows {verb} that were over before {settings.KEEP_DAYS} days.")
