"""The page of one decision; looking at it changes nothing."""

from typing import TYPE_CHECKING, Any

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from approvals.forms import AnswerForm
from approvals.queries import calls, in_hand
from approvals.queries.inbox import outcome_of
from approvals.queries.page import DecisionPage, page_of
from approvals.queries.visible import visible_decision
from approvals.tables import call_table
from approvals.views.refusals import refusing
from runs.queries.clock import db_now
from runs.web import HtmxRequest, actor_of, link_to, page_or_part, position_in, unchanged

if TYPE_CHECKING:
    from approvals.models import Decision


@require_safe
@refusing
def show(request: HtmxRequest, decision_id: int) -> HttpResponse:
    return shown(request, decision_id)


def shown(request: HtmxRequest, decision_id: int) -> HttpResponse:
    """The page as it is now, with an empty form."""
    found = visible_decision(actor_of(request), decision_id)
    page = page_of(actor_of(request), found, whole="whole" in request.GET)
    return answer(request, page, AnswerForm(page))


def answer(
    request: HtmxRequest, page: DecisionPage, form: AnswerForm, *, status: int = 200
) -> HttpResponse:
    """The page with this form, also after an answer that was not complete."""
    return page_or_part(
        request,
        "approvals/decision_show.html",
        "approvals/_calls_and_bound.html",
        status=status,
        page=page,
        decision=page.decision,
        run=page.decision.run,
        form=form,
        **status_part(page.decision, seen=page.decision.seq),
        hand=_hand(request, page),
        **calls_part(request, page),
    )


def calls_part(request: HtmxRequest, page: DecisionPage) -> dict[str, Any]:
    """The part of the list that is shown; nothing where the decision is about no list."""
    if page.asked.plan is None:
        return {}
    text = request.GET.get("q", "").strip()[:200]
    found = calls.page_of(
        page.decision,
        visible=page.visible,
        text=text,
        position=position_in(request),
        whole=page.proof.is_whole and page.proof.fits_a_page,
    )
    context = {"decision": page.decision, "may_strike": page.may_answer}
    return {
        "calls": found,
        "table": call_table(found, **context),
        "q": text,
        "here": link_to(request),
        "newer_url": link_to(request, at=found.newer) if found.newer else "",
        "older_url": link_to(request, at=found.older) if found.older else "",
    }


@require_safe
@refusing
def status(request: HtmxRequest, decision_id: int) -> HttpResponse:
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
        **status_part(decision, seen=_seen(request, decision)),
    )


def status_part(decision: "Decision", *, seen: int) -> dict[str, Any]:
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


def _hand(request: HtmxRequest, page: DecisionPage) -> in_hand.InHand | None:
    if not page.is_open:
        return None
    return in_hand.in_hand(actor_of(request), page.decision, now=db_now())


def _seen(request: HtmxRequest, decision: "Decision") -> int:
    said = request.GET.get("seen", "")
    return int(said) if said.isascii() and said.isdigit() else decision.seq
