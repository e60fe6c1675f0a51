"""Commands with verbs: who acts, what comes out, and which number a refusal ends with."""

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from runs.definition.registry import UnknownWorkflow
from runs.ledger.correcting import NothingToCorrect
from runs.ledger.lifecycle import StartKeyTaken
from runs.ledger.limits import DeadlineTooShort, NoDeadline
from runs.ledger.noting import NotYourNote
from runs.ledger.plans import PlanChanged
from runs.ledger.tenants import NoSuchTenant
from runs.ledger.transitions import MoveRefused, NoSuchRun, RunChanged
from runs.management.acting import UnknownActor, actor_named
from runs.management.away import database_away
from runs.management.given import Misused, NoSuchWorker, NotThere
from runs.rules.canonical import NotCanonical
from runs.rules.inputs import InvalidInput
from runs.rules.labels import LabelRefused
from runs.rules.notes import NoteRefused
from runs.rules.plan import BrokenWorkflow
from runs.rules.policy import Actor, NotAllowed
from runs.rules.verbs import NotNow

# What was asked about is wrong: 1. How it was asked is wrong: 2.
WRONG = (
    UnknownWorkflow,
    BrokenWorkflow,
    InvalidInput,
    NotCanonical,
    PlanChanged,
    StartKeyTaken,
    NoSuchTenant,
    NoSuchRun,
    NoSuchWorker,
    NotThere,
    MoveRefused,
    NotNow,
    RunChanged,
    NothingToCorrect,
    LabelRefused,
    NoDeadline,
    DeadlineTooShort,
    NotYourNote,
    NoteRefused,
    NotAllowed,
)


class VerbCommand(BaseCommand):
    """Each verb is a method `do_<verb>(actor, as_json=..., **its arguments)`."""

    requires_system_checks = []  # A broken workflow must not hide the runs.
    verbs: tuple[tuple[str, str], ...] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        names = "|".join(name for name, _ in self.verbs)
        added = parser.add_subparsers(dest="verb", required=True, metavar=names)
        for name, text in self.verbs:
            self._add_arguments_of(name, added.add_parser(name, help=text, description=text))

    def _add_arguments_of(self, name: str, parser: ArgumentParser) -> None:
        getattr(self, f"arguments_of_{name}", lambda _: None)(parser)
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")
        parser.add_argument("--as", dest="who", metavar="USER", help="act as this user")

    def handle(self, *args: Any, verb: str, who: str | None, **options: Any) -> None:
        try:
            self.act(actor_named(who), verb, **options)
        except InvalidInput as wrong:
            raise CommandError(_field_by_field(wrong), returncode=1) from None
        except WRONG as wrong:
            raise CommandError(str(wrong), returncode=1) from None
        except (Misused, UnknownActor) as misused:
            raise CommandError(str(misused), returncode=2) from None
        except Error as error:
            raise database_away(error) from error
        except BrokenPipeError:
            # Whoever read this has read enough; Python would complain once more at its exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def act(self, actor: Actor, verb: str, **options: Any) -> None:
        getattr(self, f"do_{verb}")(actor, **options)

    def say(self, value: dict[str, Any], lines: Iterable[str], *, as_json: bool) -> None:
        """One JSON document, or lines for people."""
        if as_json:
            self.stdout.write(json.dumps(value, ensure_ascii=not _unicode(), indent=2))
            return
        for line in lines:
            self.stdout.write(line)


def _unicode() -> bool:
    return (sys.stdout.encoding or "").lower().startswith("utf")


def _field_by_field(wrong: InvalidInput) -> str:
    errors = [f"  {name}: {error}" for name, error in wrong.errors.items()]
    return "\n".join([f"{wrong.workflow} cannot start with this input:", *errors])
