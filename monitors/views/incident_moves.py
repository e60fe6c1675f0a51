"""What a person does about an incident: take it on, put it off, take that back, call it over."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from monitors.forms import SnoozeForm, note_in
from monitors.ledger import incidents
from monitors.queries import incidents as reading
from monitors.rules.incidents import IncidentRefused
from monitors.views.incidents import shown
from runs.queries.clock import db_now
from runs.rules.ways_back import WayBack
from runs.web import HtmxRequest, actor_of, undoing
from runs.web.acting import acting

on_incident = acting(
    back="monitors:incident_show",
    missing=incidents.NoSuchIncident,
    changed=incidents.IncidentChanged,
)


@require_POST
@on_incident
def acknowledge(request: HtmxRequest, incident_id: int, seen: int | None) -> HttpResponse:
    note, actor = note_in(request.POST), actor_of(request)
    held = reading.is_in_hand(actor, incident_id)
    incident = incidents.acknowledge(actor, incident_id, note=note, seen=seen)
    told = "It is yours: nobody is reminded, unless it gets worse or more joins it."
    undoing.said(request, told, None if held else _reopening(incident))
    return redirect("monitors:incident_show", incident_id)


@require_POST
@on_incident
def snooze(request: HtmxRequest, incident_id: int, seen: int | None) -> HttpResponse:
    form = SnoozeForm(request.POST)
    if not form.is_valid():
        return shown(request, incident_id, form, status=422)
    until, note, actor = form.until(now=db_now()), form.cleaned_data["note"], actor_of(request)
    held = reading.is_in_hand(actor, incident_id)
    try:
        incident = incidents.snooze(actor, incident_id, until=until, note=note, seen=seen)
    except IncidentRefused as refused:
        form.add_error("lasts", str(refused))
        return shown(request, incident_id, form, status=422)
    told = "Nobody is reminded until then; everybody is then, if it is open."
    undoing.said(request, told, None if held else _reopening(incident))
    return redirect("monitors:incident_show", incident_id)


def _reopening(incident: Any) -> WayBack:
    """Of what was in nobody's hands before: another's word is not taken back with one's own."""
    url = reverse("monitors:incident_reopen", args=[incident.pk])
    return WayBack(url=url, fields={"expected_version": str(incident.seq)})


@require_POST
@on_incident
def reopen(request: HtmxRequest, incident_id: int, seen: int | None) -> HttpResponse:
    incidents.reopen(actor_of(request), incident_id, seen=seen)
    messages.success(request, "It is nobody's again: reminders begin anew.")
    return redirect("monitors:incident_show", incident_id)


@require_POST
@on_incident
def resolve(request: HtmxRequest, incident_id: int, seen: int | None) -> HttpResponse:
    note = note_in(request.POST)
    incidents.resolve(actor_of(request), incident_id, note=note, seen=seen)
    messages.success(request, "It is resolved. What is still wrong is told when it changes again.")
    return redirect("monitors:incident_show", incident_id)
