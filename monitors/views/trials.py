"""A test ping, sent from the page of its monitor."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from monitors.ledger.monitors import MonitorChanged, MonitorIsOurs, NoSuchMonitor
from monitors.ledger.trials import KINDS, try_ping
from monitors.rules.states import PingKind
from monitors.rules.tried import sentence_of
from monitors.views.monitor_moves import refused
from runs.web import HtmxRequest, actor_of
from runs.web.acting import acting


@require_POST
@acting(
    back="monitors:monitor_show", missing=NoSuchMonitor, changed=(MonitorChanged, MonitorIsOurs)
)
def create(request: HtmxRequest, monitor_id: int, _: int | None) -> HttpResponse:
    wanted = request.POST.get("kind", "")
    if wanted not in KINDS:
        return refused(request, monitor_id, "Nothing was sent: choose what the test ping says.")
    tried = try_ping(actor_of(request), monitor_id, PingKind(wanted))
    messages.success(
        request, sentence_of(tried.kind, number=tried.number, suspicious=tried.suspicious)
    )
    return redirect("monitors:monitor_show", monitor_id)
