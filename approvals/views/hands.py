"""Claiming, releasing, handing over and taking back: each a new resource of its decision."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from approvals.ledger import claiming, handing_over, withdrawing
from approvals.queries import in_hand
from approvals.views.refusals import refusing
from runs.queries.clock import db_now
from runs.rules.ways_back import WayBack
from runs.web import HtmxRequest, actor_of, page_or_part, undoing

REFUSALS = (
    claiming.ClaimedByOther,
    claiming.NotClaimed,
    handing_over.MayNotAnswer,
    withdrawing.NothingToWithdraw,
)


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    """What is in somebody's hands."""
    found, page = in_hand.in_hands(actor_of(request), now=db_now()), "approvals/claimed.html"
    return page_or_part(request, page, page, hands=found)


@require_POST
@refusing
def claim(request: HtmxRequest, decision_id: int) -> HttpResponse:
    return _done(
        request,
        decision_id,
        lambda: claiming.claim(actor_of(request), decision_id),
        lambda _: "Others see for ten minutes that you read it.",
        opposite="approvals:releases",
    )


@require_POST
@refusing
def release(request: HtmxRequest, decision_id: int) -> HttpResponse:
    return _done(
        request,
        decision_id,
        lambda: claiming.release(actor_of(request), decision_id),
        lambda _: "You do not read it any more.",
        opposite="approvals:claims",
    )


@require_POST
@refusing
def hand_over(request: HtmxRequest, decision_id: int) -> HttpResponse:
    kind, _, name = request.POST.get("to", "").partition(":")
    to = {"person": name} if kind == "person" else {"group": name}
    because = request.POST.get("because", "")
    return _done(
        request,
        decision_id,
        lambda: handing_over.hand_over(actor_of(request), decision_id, because=because, **to),
        lambda handed: f"Handed to {name}. {handing_over.heard(handed).sentence}",
    )


@require_POST
@refusing
def withdraw(request: HtmxRequest, decision_id: int) -> HttpResponse:
    because = request.POST.get("because", "")
    return _done(
        request,
        decision_id,
        lambda: withdrawing.withdraw(actor_of(request), decision_id, because=because),
        lambda _: "Your answer counts no more. Nothing has happened.",
    )


def _done(
    request: HtmxRequest,
    decision_id: int,
    act: Callable[[], Any],
    told: Callable[[Any], str],
    opposite: str = "",
) -> HttpResponse:
    """Back to where it was asked, saying what came of it; what was refused says why, as 409."""
    back = reverse("approvals:decision_show", args=[decision_id])
    try:
        done = act()
    except REFUSALS as refused:
        context = {"because": str(refused), "back_url": back}
        return render(request, "409.html", context, status=409)
    among = {"back": "claimed"} if request.POST.get("back") == "claimed" else {}
    undo = WayBack(url=reverse(opposite, args=[decision_id]), fields=among) if opposite else None
    undoing.said(request, told(done), undo)
    return redirect("approvals:claimed" if among else back)
