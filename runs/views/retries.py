"""Having a run that waits for its next attempt tried now; asked on the run's own page."""

from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_POST

from runs.ledger import retrying
from runs.views import moving
from runs.web import HtmxRequest, actor_of, operator


@require_POST
@operator
@moving.refusing
def create(request: HtmxRequest, run_id: UUID) -> HttpResponse:
    seen = request.POST.get("seen") or None
    step = retrying.retry_now(actor_of(request), run_id, seen=seen)
    return moving.done(request, run_id, f"{step} is due now.")
