"""What the commands of monitors and alerts ask for and print."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Q

from monitors.queries.incidents import Members, one_incident
from monitors.queries.pages_monitors import Row
from monitors.queries.visible import visible_monitors
from monitors.rules.addresses import ping_path
from monitors.rules.filters import Filters
from monitors.rules.monitors import MonitorWish
from runs.conf import site
from runs.management import given
from runs.queries.deliveries import Delivery
from runs.queries.shown import moment
from runs.rules.policy import Actor

if TYPE_CHECKING:
    from monitors.models import Incident, Monitor

PLAIN = ("name", "slug", "about", "cron", "zone")
SWITCHES = ("post_only", "manual_resume", "public")
TIMES = ("every", "grace", "longest", "late_start")


class Refused(given.NotThere):
    """What was asked cannot be done; the text says why."""


def name_monitor(parser: ArgumentParser) -> None:
    parser.add_argument("monitor", help="its number, address code, slug or name")


def name_incident(parser: ArgumentParser) -> None:
    parser.add_argument("incident", type=int, help="its number, as alerts list prints it")


def limits(parser: ArgumentParser) -> None:
    """What `add` and `edit` may say."""
    parser.add_argument(
        "--every", type=given.length_of_time, metavar="TIME", help="such as 1d, 30s"
    )
    parser.add_argument("--cron", help='instead of --every: "0 2 * * *"')
    parser.add_argument("--zone", help="the time zone of --cron, such as Europe/Berlin")
    parser.add_argument(
        "--grace", type=given.length_of_time, metavar="TIME", help="how late it may be"
    )
    parser.add_argument("--longest", type=given.length_of_time, metavar="TIME")
    parser.add_argument("--late-start", type=given.length_of_time, metavar="TIME")
    parser.add_argument("--slug")
    parser.add_argument("--about", help="what to do when it is down")
    parser.add_argument("--tag", action="append", metavar="WORD", help="as often as there are tags")
    parser.add_argument("--fail-word", action="append", metavar="WORD", help="in a ping's body")
    parser.add_argument("--success-word", action="append", metavar="WORD")
    for name in SWITCHES:
        shown = name.replace("_", "-")
        parser.add_argument(f"--{shown}", action="store_true", default=None, dest=name)
        parser.add_argument(f"--no-{shown}", action="store_false", default=None, dest=name)


def wished(said: dict[str, Any], *, was: MonitorWish | None = None) -> MonitorWish:
    """What was named, over what there was."""
    was = was or MonitorWish()
    told: dict[str, Any] = {name: getattr(was, name) for name in MonitorWish.__slots__}
    told |= {name: said[name] for name in (*PLAIN, *SWITCHES) if said.get(name) is not None}
    for name in TIMES:
        if said.get(name) is not None:
            told["period" if name == "every" else name] = said[name].total_seconds()
    if said.get("cron"):
        told["period"] = None
    elif said.get("every") is not None:
        told["cron"] = ""
    if said.get("tag") is not None:
        told["tags"] = tuple(said["tag"])
    told["filters"] = _filters(said, was.filters)
    return MonitorWish(**told)


def _filters(said: dict[str, Any], was: Filters) -> Filters:
    if said.get("fail_word") is None and said.get("success_word") is None:
        return was
    fail = tuple(said["fail_word"] if said.get("fail_word") is not None else was.fail)
    success = tuple(said["success_word"] if said.get("success_word") is not None else was.success)
    return Filters(fail=fail, success=success, start=was.start, subject=was.subject, body=True)


def the_monitor(actor: Actor, text: str) -> "Monitor":
    named = Q(slug=text) | Q(name=text)
    if text.isascii() and text.isdecimal():
        named |= Q(pk=int(text))
    with suppress(ValueError):
        named |= Q(code=UUID(text))
    found = list(visible_monitors(actor).filter(named).order_by("pk")[:10])
    if len(found) > 1:
        lines = [f"  {each.pk}  {each}  {each.tenant.slug}" for each in found]
        raise given.Misused("\n".join([f"{text!r} may be any of these:", *lines]))
    if not found:
        raise given.NotThere(
            f"There is no monitor {text!r}; `monitors list` names those there are."
        )
    return found[0]


def the_incident(actor: Actor, number: int) -> "Incident":
    found = one_incident(actor, number)
    if found is None:
        raise given.NotThere(f"There is no incident {number}; `alerts list` names those there are.")
    return found


def shown(row: Row) -> dict[str, Any]:
    one = row.monitor
    return {
        "id": one.pk,
        "name": str(one),
        "slug": one.slug,
        "kind": one.kind,
        "subject": one.subject,
        "state": one.state,
        "verdict": one.verdict or None,
        "expects": row.expects,
        "last_ping_at": moment(one.last_ping_at),
        "alert_at": moment(one.alert_at),
        "uptime_30d": row.uptime,
        "says": row.said.sentence if row.said else "",
        "advice": row.said.advice if row.said else "",
        "facts": {"heartbeat": row.heartbeat, "database": row.database},
        "tags": one.tags.split(),
        "paused_until": moment(one.paused_until),
        "muted_until": moment(row.muted_until),
        "told_by": [route.name for route in row.told_by],
    }


def address_of(monitor: "Monitor") -> str:
    return f"{site()}{ping_path(monitor.code)}"


def line_of(row: Row) -> str:
    one = row.monitor
    verdict = f" {one.verdict}" if one.verdict not in ("", "alive") else ""
    return f"{one.pk:>5}  {one.state + verdict:14} {one}  {row.expects}; {row.heartbeat}"


def lines_of_one(row: Row) -> Iterator[str]:
    one = row.monitor
    yield f"{one}: {one.state}{f', {one.verdict}' if one.verdict else ''}"
    yield f"expects: {row.expects}"
    yield f"facts: {row.heartbeat}{f'; the database says {row.database}' if row.database else ''}"
    if row.said and one.verdict != "alive":
        yield row.said.sentence
        yield f"do: {row.said.advice}"
    if one.state == "paused":
        until = f" until {one.paused_until:%Y-%m-%d %H:%M:%S} UTC" if one.paused_until else ""
        yield f"paused by {one.paused_by}{until}{f': {one.paused_note}' if one.paused_note else ''}"
    elif one.alert_at:
        yield f"people are called at {one.alert_at:%Y-%m-%d %H:%M:%S} UTC"
    if row.muted_until:
        yield f"muted until {row.muted_until:%Y-%m-%d %H:%M:%S} UTC: nobody is called"
    yield f"told by {', '.join(route.name for route in row.told_by) or 'mail to those who may act'}"
    yield row.bars_say


def shown_incident(incident: "Incident") -> dict[str, Any]:
    return {
        "id": incident.pk,
        "severity": incident.severity,
        "sentence": incident.sentence,
        "state": incident.state,
        "first_seen": moment(incident.opened_at),
        "count": incident.count,
        "affected": incident.affected,
        "workflow": incident.workflow,
        "owner": incident.owner,
        "note": incident.note,
        "flapping": incident.flapping,
        "snoozed_until": moment(incident.snoozed_until),
        "resolved_at": moment(incident.resolved_at),
        "resolved_by": incident.resolved_by,
    }


def shown_delivery(one: Delivery) -> dict[str, Any]:
    return {
        "id": str(one.id),
        "channel": one.channel,
        "title": one.title,
        "state": one.state,
        "attempts": one.attempts,
        "error": one.error,
        "settled_at": moment(one.settled_at),
    }


def line_of_incident(incident: "Incident") -> str:
    owner = f", {incident.owner}" if incident.owner else ""
    return (
        f"{incident.pk:>5}  {incident.severity:8} {incident.state}{owner}  "
        f"{incident.sentence}  ({incident.affected} affected, since {incident.opened_at:%Y-%m-%d %H:%M:%S} UTC)"
    )


def lines_of_incident(
    incident: "Incident", members: Members, told: Sequence[Delivery]
) -> Iterator[str]:
    yield line_of_incident(incident).strip()
    for alert in members.alerts:
        ended = f"closed at {alert.closed_at:%H:%M:%S}" if alert.closed_at else "still wrong"
        yield f"  {ended}: {alert.sentence}"
    for one in told:
        why = f": {one.error}" if one.error else ""
        yield f"  told by {one.channel}: {one.state}{why}"
    if not told:
        yield "  nobody was told"
