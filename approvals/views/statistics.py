"""How long decisions wait."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from approvals.queries.statistics import PERIODS, statistics
from runs.queries.clock import db_now
from runs.web import HtmxRequest, actor_of


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    days = request.GET.get("days", "")
    days = days if days in PERIODS else "30"
    now = db_now()
    found = statistics(actor_of(request), since=now - PERIODS[days])
    context = {"found": found, "days": days, "periods": list(PERIODS), "now": now}
    return render(request, "approvals/statistics.html", context)
