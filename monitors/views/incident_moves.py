"""What a person does about an incident: take it on, put it off, take that back, call it over."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from monitors.forms import SnoozeForm, note_in
from monitors.ledger import incidents
from monitors.rules.incidents import IncidentRefused
from monitors.views.incidents import shown
from runs.queries.clock import db_now
from runs.web import HtmxRequest, actor_of
from runs.web.acting import acting

on_incident = acting(
    back="monitors:incident_show",
    missing=incidents.NoSuchIncident,
    changed=incidents.IncidentChanged,
)


@require_POST
@on_incident
def acknowledge(request: HtmxRequest, incident_id: int, seen: int | None) -> HttpResponse:
    note = note_in(request.POST)
    incidents.acknowledge(actor_of(request), incident_id, note=note, seen=seen)
    messages.success(
        request, "It is yours: nobody is reminded, unless it gets worse or more joins it."
    )
    return redirect("monitors:incident_show", incident_id)


@require_POST
@on_incident
def snooze(request: HtmxRequest, incident_id: int, seen: int | None) -> HttpResponse:
    form = SnoozeForm(request.POST)
    if not form.is_valid():
        return shown(request, incident_id, form, status=422)
    until, note = form.until(now=db_now()), form.cleaned_data["note"]
    try:
        incidents.snooze(actor_of(request), incident_id, until=until, note=note, seen=seen)
    except IncidentRefused as refused:
        form.add_error("lasts", str(refused))
        return shown(request, incident_id, form, status=422)
    messages.success(request, "Nobody is reminded until then; everybody is then, if it is open.")
    return redirect("monitors:incident_show", incident_id)


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
