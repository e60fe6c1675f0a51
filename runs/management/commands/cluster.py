"""Execute steps: a supervised django-q2 cluster that ends rather than freezes; restart it when it does."""

import argparse
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from runs.dispatch import cluster
from runs.dispatch.demands import unmet


class Command(BaseCommand):
    help = (
        "Execute steps. Ends with 0 after SIGTERM, SIGINT or SIGHUP, and with 70 when it cannot be "
        "trusted any more: let a supervisor restart it."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--workers", type=int, default=settings.WORKERS, help="how many steps at once"
        )
        parser.add_argument(
            "--grace", type=float, default=15.0, help="seconds to finish a step when told to stop"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["workers"] < 1 or options["grace"] < 0:
            raise CommandError("Say at least one worker, and a grace of 0 s or more.", returncode=2)
        if problems := unmet():
            raise CommandError(" ".join(problems), returncode=2)
        raise SystemExit(cluster.run(workers=options["workers"], grace=options["grace"]))
