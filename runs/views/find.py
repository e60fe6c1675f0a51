"""The find box: an exact name jumps, anything else filters the list of runs."""

from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from runs.queries.pages_find import find
from runs.web import HtmxRequest, actor_of


@require_safe
def show(request: HtmxRequest) -> HttpResponse:
    text = request.GET.get("q", "").strip()[:300]
    if text and (found := find(actor_of(request), text)):
        if found.step:
            return redirect("runs:step_show", found.run_id, found.step)
        return redirect("runs:run_show", found.run_id)
    return redirect(f"{reverse('runs:run_list')}?{urlencode({'q': text, 'started': 'all'})}")
