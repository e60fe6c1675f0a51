"""What monitors and incidents say in the frame of every page and on the first one."""

from collections.abc import Sequence

from django.urls import reverse

from monitors.queries import incidents, pages_monitors
from runs.rules.looks import look_of
from runs.rules.policy import Actor, Verb, may
from runs.web.needs import Need, register, register_place

# What schedules and the outbox say of themselves on the first page.
SAID_ELSEWHERE = ("schedule", "outbox")


def register_all() -> None:
    register("incidents", open_incidents, count=count_own, place="monitors:incident_list")
    register_place("monitors:monitor_list", pages_monitors.count_down)


def open_incidents(actor: Actor) -> Sequence[Need]:
    """Whoever took one on sees it as theirs; what is snoozed is not shown until then."""
    found = incidents.for_first_page(actor, but=SAID_ELSEWHERE)
    return [_need(each, actor) for each in found]


def count_own(actor: Actor) -> int:
    return sum(need.yours for need in open_incidents(actor))


def _need(each: incidents.ForFirstPage, actor: Actor) -> Need:
    incident = each.incident
    severity = look_of(incident.severity)
    look = look_of(each.verdict or incident.severity)
    more = f" {incident.affected} are affected." if incident.affected > 1 else ""
    return Need(
        key=f"incident-{incident.pk}",
        family=severity.family,
        # What reported a failure is alive: its verdict would look well.
        glyph=severity.glyph if look.family == "ok" else look.glyph,
        sentence=f"{incident.sentence}{more}",
        url=reverse("monitors:incident_show", args=[incident.pk]),
        action="Look",
        since=incident.opened_at,
        workflow=incident.workflow,
        owner=incident.owner,
        yours=may(actor, Verb.OPERATE) and incident.owner in ("", actor.name),
    )
