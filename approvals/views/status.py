"""The one line of a decision's page that stays fresh while its form is filled in."""

from typing import TYPE_CHECKING, Any

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from approvals.queries import in_hand
from approvals.queries.inbox import outcome_of
from approvals.queries.visible import visible_decision
from approvals.views.refusals import refusing
from runs.queries.clock import db_now
from runs.web import HtmxRequest, actor_of, page_or_part, unchanged

if TYPE_CHECKING:
    from approvals.models import Decision


@require_safe
@refusing
def show(request: HtmxRequest, decision_id: int) -> HttpResponse:
    """The one line that stays fresh while the form is being filled in."""
    decision = visible_decision(actor_of(request), decision_id)
    reader = in_hand.reader_of(decision, now=db_now())
    if same := unchanged(request, in_hand.version_of(decision, reader)):
        return same
    return page_or_part(
        request,
        "approvals/_decision_status.html",
        "approvals/_decision_status.html",
        now=db_now(),
        decision=decision,
        live_note=True,
        **part_of(decision, seen=_seen(request, decision)),
    )


def part_of(decision: "Decision", *, seen: int) -> dict[str, Any]:
    """`seen` is the number of the decision as the reader's page shows it."""
    address = reverse("approvals:status", args=[decision.pk])
    reader = in_hand.reader_of(decision, now=db_now())
    return {
        "seen": seen,
        "outcome": outcome_of(decision),
        "status_url": f"{address}?seen={seen}",
        "status_version": in_hand.version_of(decision, reader),
        "reader": reader,
    }


def _seen(request: HtmxRequest, decision: "Decision") -> int:
    said = request.GET.get("seen", "")
    return int(said) if said.isascii() and said.isdigit() else decision.seq
