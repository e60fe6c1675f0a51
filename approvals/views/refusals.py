"""What a page answers when the ledger refuses: each refusal has its own number and its sentence."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from approvals.ledger.grounds import GroundMoved
from approvals.ledger.holding import DecisionChanged, DecisionClosed, DecisionExpired
from approvals.queries import lists
from approvals.queries.grounds import successor_of
from approvals.queries.inbox import next_for
from approvals.queries.visible import NoSuchDecision
from approvals.rules.door import NotYours
from runs.rules.states import DecisionState
from runs.web import HtmxRequest, actor_of

View = Callable[..., HttpResponseBase]


def refusing(view: View) -> View:
    """Another tenant's is 404, not yours 403, decided or changed 409, expired 410."""

    @wraps(view)
    def answer(request: HtmxRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except NoSuchDecision:
            raise Http404 from None
        except NotYours as refused:
            raise PermissionDenied(str(refused)) from None
        except DecisionExpired as over:
            return _told(request, over, "It is too late", status=410)
        except DecisionClosed as closed:
            return _told(request, closed, "Somebody was faster", status=409)
        except DecisionChanged as changed:
            return _changed(request, changed)
        except GroundMoved as moved:
            return _asked_anew(request, moved)

    return answer


def _told(request: HtmxRequest, closed: DecisionClosed, title: str, *, status: int) -> HttpResponse:
    decision = closed.decision
    here = reverse("approvals:decision_show", args=[decision.pk])
    if request.htmx:
        return HttpResponseClientRedirect(here)
    context = {
        "title": title,
        "because": str(closed),
        "decision": decision,
        "next": successor_of(decision) or next_for(actor_of(request), decision),
        "asked_anew": decision.state == DecisionState.SUPERSEDED.value,
        "written": request.POST.get("comment", ""),
    }
    return render(request, "approvals/too_late.html", context, status=status)


def _asked_anew(request: HtmxRequest, moved: GroundMoved) -> HttpResponse:
    """What the decision rested on is another: the difference, and the way to the new question."""
    if request.htmx:
        here = reverse("approvals:decision_show", args=[moved.successor.pk])
        return HttpResponseClientRedirect(here)
    context = {
        "moved": moved.moved,
        "successor": moved.successor,
        "written": request.POST.get("comment", ""),
    }
    return render(request, "approvals/asked_anew.html", context, status=409)


def _changed(request: HtmxRequest, changed: DecisionChanged) -> HttpResponse:
    decision = changed.decision
    if request.htmx:
        return HttpResponseClientRedirect(reverse("approvals:decision_show", args=[decision.pk]))
    seen = request.POST.get("seen", "")
    since = lists.struck_since(decision, int(seen) if seen.isascii() and seen.isdigit() else 0)
    context = {
        "decision": decision,
        "changed": changed,
        "since": since,
        "written": request.POST.get("comment", ""),
    }
    return render(request, "approvals/changed.html", context, status=409)
