"""Incidents: what is wrong now, and the page of one with all that was told of it."""

from django.http import Http404, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from monitors.forms import SnoozeForm
from monitors.queries import incidents as reading
from monitors.rules.incidents import key_of
from runs.queries import deliveries
from runs.rules.policy import Verb, may
from runs.web import HtmxRequest, actor_of, link_to, page_or_part, position_in, unchanged


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    actor = actor_of(request)
    page = reading.incidents_page(actor, position_in(request))
    if same := unchanged(request, page.version):
        return same
    return page_or_part(
        request,
        "monitors/incident_list.html",
        "monitors/_incidents.html",
        page=page,
        deliveries=deliveries.lately(actor, kind="alert"),
        live_url=reverse("monitors:incident_list") + link_to(request),
        newer_url=link_to(request, at=page.resolved.newer) if page.resolved.newer else "",
        older_url=link_to(request, at=page.resolved.older) if page.resolved.older else "",
        may_operate=may(actor, Verb.OPERATE),
    )


@require_safe
def show(request: HtmxRequest, incident_id: int) -> HttpResponse:
    return shown(request, incident_id, SnoozeForm())


def shown(
    request: HtmxRequest, incident_id: int, form: SnoozeForm, status: int = 200
) -> HttpResponse:
    actor = actor_of(request)
    incident = reading.one_incident(actor, incident_id)
    if incident is None:
        raise Http404
    return page_or_part(
        request,
        "monitors/incident_show.html",
        "monitors/incident_show.html",
        status=status,
        incident=incident,
        members=reading.members_of(incident),
        deliveries=deliveries.deliveries_of(actor, key_of(incident.pk)),
        form=form,
        may_operate=may(actor, Verb.OPERATE),
    )
