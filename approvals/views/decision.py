"""The page of one decision; looking at it changes nothing."""

from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from approvals.forms import AnswerForm
from approvals.queries import calls, in_hand
from approvals.queries.page import DecisionPage, page_of
from approvals.queries.visible import visible_decision
from approvals.tables import call_table
from approvals.views import status as live
from approvals.views.refusals import refusing
from runs.queries.clock import db_now
from runs.web import HtmxRequest, actor_of, link_to, page_or_part, position_in


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
        **live.part_of(page.decision, seen=page.decision.seq),
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


def _hand(request: HtmxRequest, page: DecisionPage) -> in_hand.InHand | None:
    if not page.is_open:
        return None
    return in_hand.in_hand(actor_of(request), page.decision, now=db_now())
