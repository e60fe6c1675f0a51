"""From a run's wait to the decision that answers it."""

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from approvals.queries.visible import decision_of_wait
from approvals.views.refusals import refusing
from runs.web import HtmxRequest, actor_of


@require_safe
@refusing
def show(request: HtmxRequest, wait_id: int) -> HttpResponse:
    found = decision_of_wait(actor_of(request), wait_id)
    return redirect("approvals:decision_show", found.pk)
