"""Runs everything on this machine: pages, workers and clockwork, restarted when they exit."""

import signal
from argparse import ArgumentParser
from pathlib import Path
from types import FrameType
from typing import IO, Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from config import first_run, readying, serving, signin_links, supervision
from runs import conf
from runs.management.away import database_away

HELLO = """
Milepost answers at {site}

  Sign in, once and within the hour:
    {link}

  {run}
  Logs are in {logs}. Another link: manage.py signin. Ctrl-C stops everything.
"""


class Command(BaseCommand):
    help = "Sets this machine up and runs web, cluster and watch until it is told to stop."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--inbox", type=Path, help="mail to sort instead of the bundled sample")

    def handle(self, *args: Any, inbox: Path | None, **options: Any) -> None:
        for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(ending, _asked_to_stop)
        try:
            to_sort = first_run.readable(inbox)
            with serving.claimed(settings.VAR_DIR) as lock:
                self._serve(lock, inbox=to_sort)
        except first_run.UnreadableInbox as problem:
            raise CommandError(str(problem), returncode=2) from None
        except serving.AlreadyServed:
            self._point_to_the_other(to_sort if inbox else None)
        except (serving.NoFreePort, supervision.WebIsSilent) as problem:
            raise CommandError(str(problem)) from None
        except Error as error:
            raise database_away(error) from error

    def _serve(self, lock: IO[str], *, inbox: Path) -> None:
        readying.ready(settings.VAR_DIR)
        person = signin_links.first_user()
        site, bind = self._place()
        run = supervision.programs(bind=bind, workers=settings.WORKERS)
        with supervision.supervised(var=settings.VAR_DIR, run=run) as manager:
            supervision.wait_for_web(site, settings.VAR_DIR / "log" / "web.log")
            serving.announce(lock, site=site)
            started = first_run.begin(inbox)
            known_as = conf.site()
            link = signin_links.link_for(person, site=known_as)
            logs = settings.VAR_DIR / "log"
            self.stdout.write(HELLO.format(site=known_as, link=link, run=started, logs=logs))
            self.stdout.flush()
            manager.keep_alive()

    def _place(self) -> tuple[str, str]:
        port = serving.free_port(settings.HOST, settings.PORT)
        if port != settings.PORT:
            self.stdout.write(f"Port {settings.PORT} is busy; taking {port}.")
        return serving.site_of(settings.HOST, port), serving.bind_to(settings.HOST, port)

    def _point_to_the_other(self, inbox: Path | None) -> None:
        """Says where it answers; an inbox that was named is sorted there."""
        if not serving.running_site(settings.VAR_DIR, patience=60):
            raise CommandError(
                "Another `up` holds this VAR_DIR, but does not answer; stop it first."
            )
        known_as = conf.site()
        link = signin_links.link_for(signin_links.first_user(), site=known_as)
        self.stdout.write(
            f"Milepost already answers at {known_as}\n\n  Sign in, once:\n    {link}\n"
        )
        if inbox:
            self.stdout.write(f"  {first_run.begin(inbox)}")


def _asked_to_stop(number: int, frame: FrameType | None) -> NoReturn:
    """Unwinds from wherever we are; the context managers on the way stop what was started."""
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.SIG_IGN)
    raise SystemExit(0)
