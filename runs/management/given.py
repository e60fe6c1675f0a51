"""What was typed on a command line, read: JSON, labels, names of runs, workers and tenants."""

import json
import re
import sys
from argparse import ArgumentTypeError
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from runs.ledger.tenants import NoSuchTenant
from runs.ledger.transitions import NoSuchRun
from runs.queries import naming
from runs.rules.policy import Actor

if TYPE_CHECKING:
    from runs.models import Run


SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}


class Misused(Exception):
    """The command line cannot be understood; the text says what to write instead."""


class NotThere(Exception):
    """What was named is not there, or not as it was said to be; the text says what to look at."""


class NoSuchWorker(Exception):
    """No worker has this id; `workers list --all` names those there are and were."""


def json_object(text: str, *, named: str) -> dict[str, Any]:
    """JSON text, or `@FILE` that holds it, or `@-` for what is piped in; always an object."""
    try:
        value = json.loads(_content(text, named), parse_constant=_refuse)
    except ValueError as error:
        raise Misused(f'{named} is no JSON: {error}. Write for example {{"name": 1}}.') from None
    if not isinstance(value, dict):
        raise Misused(f"{named} has to be a JSON object with names and values, such as {{}}.")
    return value


def _content(text: str, named: str) -> str:
    if not text.startswith("@"):
        return text
    if text == "@-":
        return sys.stdin.read()
    try:
        return Path(text[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Misused(f"{named} names a file that cannot be read: {error}") from None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


def labels(pairs: Iterable[str]) -> dict[str, str]:
    """`--label team=mail`, as often as there are labels."""
    read = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name.strip():
            raise Misused(f"--label takes NAME=VALUE, not {pair!r}.")
        read[name.strip()] = value
    return read


def length_of_time(text: str) -> timedelta:
    """`90m`, `2h`, `1d12h`, or a bare number of seconds; argparse names the option in its refusal."""
    parts = re.findall(r"(\d+(?:\.\d+)?)([dhms])", text)
    whole = "".join(number + unit for number, unit in parts)
    if text.replace(".", "", 1).isdigit():
        parts, whole = [(text, "s")], text
    seconds = sum(float(number) * SECONDS[unit] for number, unit in parts)
    if whole != text or not seconds:
        raise ArgumentTypeError(f"{text!r} is no length of time: write 90m, 2h, 1d12h or seconds")
    return timedelta(seconds=seconds)


def short_enough(text: str, *, named: str, most: int) -> str:
    if not text or len(text) > most:
        raise Misused(f"{named} has 1 to {most} characters, not {len(text)}.")
    return text


def the_run(actor: Actor, text: str, *, only_one: bool = False) -> "Run":
    """The run that is meant. Of several with one reference the newest, unless `only_one`."""
    found = naming.runs_named(actor, text)
    if not found:
        raise NoSuchRun(
            f"There is no run {text!r}. Name it by its id, its reference, or at least "
            f"{naming.SHORTEST} characters of the beginning or end of its id."
        )
    by_reference = all(run.reference == text for run in found)
    if len(found) > 1 and (only_one or not by_reference):
        raise Misused("\n".join([f"{text!r} may be any of these runs:", *map(_line, found)]))
    return found[0]


def _line(run: "Run") -> str:
    at = f"{run.created_at:%Y-%m-%d %H:%M:%S}"
    return f"  {run.pk}  {run.state:9}  {run.workflow}  {run.reference}  {at}"


def the_tenant(actor: Actor, slug: str) -> int:
    found = naming.tenant_named(actor, slug)
    if found is None:
        raise NoSuchTenant(f"There is no tenant {slug!r} that {actor.name} belongs to.")
    return found


def the_worker(text: str) -> UUID:
    found = naming.workers_named(text)
    if len(found) > 1:
        ids = ", ".join(map(str, found))
        raise Misused(f"{text!r} may be any of these workers: {ids}.")
    if not found:
        raise NoSuchWorker(f"There is no worker {text!r}; `workers list` names those there are.")
    return found[0]
