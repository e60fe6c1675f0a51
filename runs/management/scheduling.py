"""What `schedules` asks for and prints."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from runs.management import given
from runs.queries import pages_schedules
from runs.queries.pages_schedules import Row
from runs.queries.shown import moment
from runs.rules.catching_up import CATCH_UP_SAYS
from runs.rules.overlap import OVERLAP_SAYS
from runs.rules.policy import Actor
from runs.rules.schedules import Wish
from runs.rules.wall_clock import DST_SAYS, Due

if TYPE_CHECKING:
    from runs.models import Firing, Schedule

PLAIN = (
    "workflow",
    "version",
    "name",
    "zone",
    "dst",
    "overlap",
    "catch_up",
    "window",
    "jitter",
)


class Refused(given.NoSuchWorker):
    """What was asked about a schedule is wrong; the text says what."""


def name_one(parser: ArgumentParser) -> None:
    parser.add_argument("slug", help="the schedule's name")
    parser.add_argument("--tenant", default="", help="where several tenants have one of this name")


def timing_arguments(parser: ArgumentParser) -> None:
    when = parser.add_mutually_exclusive_group()
    when.add_argument("--cron", metavar="EXPRESSION", help='five fields, such as "0 2 * * *"')
    when.add_argument("--every", type=float, metavar="SECONDS", help="an interval instead")
    parser.add_argument("--zone", help="such as Europe/Berlin; otherwise UTC")
    parser.add_argument("--dst", help=_choices(DST_SAYS))
    parser.add_argument("--ends", metavar="TIME", help="ISO time after which it is never due")


def all_arguments(parser: ArgumentParser) -> None:
    timing_arguments(parser)
    parser.add_argument("--overlap", help=_choices(OVERLAP_SAYS))
    parser.add_argument("--catch-up", dest="catch_up", help=_choices(CATCH_UP_SAYS))
    parser.add_argument("--window", type=float, metavar="SECONDS", help="for --catch-up all")
    parser.add_argument("--jitter", type=float, metavar="SECONDS", help="later by at most this")
    parser.add_argument("--version", type=int, help="otherwise the latest when it is due")
    parser.add_argument("--name", help="for people")
    parser.add_argument("--input", metavar="JSON", help="an object, or @FILE")
    parser.add_argument("--label", action="append", metavar="NAME=VALUE")


def _choices(says: Mapping[Any, str]) -> str:
    return "; ".join(f"{word.value}: {text}" for word, text in says.items())


def wished(said: Mapping[str, Any], *, was: Wish | None = None) -> Wish:
    """What was typed; of what was not, what it `was` before."""
    wish = was or Wish(slug=said["slug"], workflow=said["workflow"], overlap="")
    changes = {name: said[name] for name in PLAIN if said.get(name) is not None}
    if said["cron"] is not None:
        changes |= {"cron": said["cron"], "every": None}
    if said["every"] is not None:
        changes |= {"cron": "", "every": said["every"]}
    if said["ends"] is not None:
        changes["ends"] = _time(said["ends"])
    if said["input"] is not None:
        changes["data"] = given.json_object(said["input"], named="--input")
    if said["label"] is not None:
        changes["labels"] = given.labels(said["label"])
    return replace(wish, **changes)


def timed(said: Mapping[str, Any]) -> Wish:
    """Enough of a wish to say when it would be due."""
    return wished(
        {**said, "slug": "preview", "workflow": "", "overlap": "skip", "input": None, "label": None}
    )


def _time(text: str) -> datetime | None:
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise given.Misused(
            f"--ends takes a time such as 2027-01-31T00:00Z, not {text!r}."
        ) from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def the_schedule(actor: Actor, said: Mapping[str, Any]) -> "Schedule":
    found = pages_schedules.named(actor, said["slug"], tenant=said.get("tenant") or "")
    if not found:
        raise Refused(f"There is no schedule {said['slug']!r}; `schedules list` names them.")
    if len(found) > 1:
        tenants = ", ".join(one.tenant.slug for one in found)
        raise given.Misused(f"Several tenants have {said['slug']!r} ({tenants}): say --tenant.")
    return found[0]


def shown(row: Row) -> dict[str, Any]:
    """What `--json` prints of a schedule."""
    one = row.schedule
    return {
        "slug": one.slug,
        "name": one.name,
        "tenant": one.tenant.slug,
        "state": row.state,
        "words": row.words,
        "cron": one.cron,
        "every": one.every,
        "zone": one.zone,
        "dst": one.dst,
        "workflow": one.workflow,
        "version": one.version,
        "overlap": one.overlap,
        "catch_up": one.catch_up,
        "window": one.window,
        "jitter": one.jitter,
        "ends_at": moment(one.ends_at),
        "next": [due(each) for each in row.next],
        "skips_in_a_row": one.skips,
        "paused_note": one.paused_note if not one.enabled else "",
        "last": firing(row.last) if row.last else None,
        "revision": one.revision,
    }


def firing(one: "Firing") -> dict[str, Any]:
    return {
        "nominal_at": moment(one.nominal_at),
        "state": one.state,
        "reason": one.reason,
        "run": str(one.run_id) if one.run_id else None,
        "by_hand": one.by_hand,
        "decided_at": moment(one.decided_at),
    }


def due(one: Due) -> dict[str, Any]:
    return {"at": moment(one.at), "fires": one.fires, "note": one.note}


def line_of_due(one: Due) -> str:
    note = f"  {'' if one.fires else 'left out: '}{one.note}" if one.note else ""
    return f"  {one.at:%Y-%m-%d %H:%M:%S} UTC{note}"


def lines_of_list(rows: Sequence[Row]) -> Iterator[str]:
    if not rows:
        yield 'No schedule. `manage.py schedules add NAME WORKFLOW --cron "0 2 * * *" --overlap skip`'
    for row in rows:
        following = f"next {row.next[0].at:%Y-%m-%d %H:%M:%S} UTC" if row.next else "never again"
        last = f"last {row.last.state}" if row.last else "not fired yet"
        yield f"{row.schedule.slug:24} {row.state:8} {row.words}; {following}; {last}"


def lines_of_one(row: Row, last: Sequence["Firing"]) -> Iterator[str]:
    one = row.schedule
    yield f"{one.slug}: {row.words} ({one.cron or f'{one.every:g} s'}), {row.state}"
    yield f"starts {one.workflow} {f'version {one.version}' if one.version else 'as it is then'}"
    yield f"overlap {one.overlap}: {row.overlap_says}; catch-up {one.catch_up}: {row.catch_up_says}"
    if not one.enabled and one.paused_note:
        yield f"paused: {one.paused_note}"
    if row.is_incident:
        yield f"{one.skips} due times in a row came to nothing"
    yield "next:"
    yield from [line_of_due(each) for each in row.next] or ["  never again"]
    for each in last:
        run = f"  run {each.run_id}" if each.run_id else ""
        yield f"{each.nominal_at:%Y-%m-%d %H:%M:%S} UTC  {each.state:8}{run}  {each.reason}"
