"""Prints a link that signs one person in once."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from config.signin_links import NobodyToSignIn, known_user, link_for
from runs.conf import site
from runs.management.away import database_away


class Command(BaseCommand):
    help = "Prints a link that signs USER in once, within the hour. Opening it shows a button."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "user", nargs="?", help="a user name; otherwise the first administrator"
        )
        parser.add_argument("--json", action="store_true", help="print {user, link}")

    def handle(self, *args: Any, user: str | None, json: bool, **options: Any) -> None:
        try:
            link = link_for(person := known_user(user), site=site())
        except NobodyToSignIn as nobody:
            raise CommandError(str(nobody)) from None
        except Error as error:
            raise database_away(error) from error
        self.stdout.write(_as_json(person.username, link) if json else link)


def _as_json(user: str, link: str) -> str:
    return json.dumps({"user": user, "link": link})
