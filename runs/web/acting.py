"""What a person does to one thing from its page: as it was seen, or not at all."""

from collections.abc import Callable
from functools import wraps

from django.http import Http404, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from runs.web import HtmxRequest, View, number_in, operator

Refusals = type[Exception] | tuple[type[Exception], ...]
# A view gets the number of the thing, and what it was when it was looked at.
Move = Callable[[HtmxRequest, int, int | None], HttpResponseBase]


def acting(
    *, back: str, missing: Refusals, changed: Refusals, who: Callable[[View], View] = operator
) -> Callable[[Move], View]:
    """Another tenant's is 404; what changed meanwhile, or cannot be done, is 409 with why.

    `back` names the page of the thing, `who` lets those pass who may do it.
    """

    def decorate(view: Move) -> View:
        @who
        @wraps(view)
        def answer(request: HtmxRequest, **which: int) -> HttpResponseBase:
            (number,) = which.values()
            try:
                return view(request, number, _seen(request))
            except missing:
                raise Http404 from None
            except changed as refused:
                told = {"because": str(refused), "back_url": reverse(back, args=[number])}
                return render(request, "409.html", told, status=409)

        return answer

    return decorate


def _seen(request: HtmxRequest) -> int | None:
    """Which version of it the form was made for."""
    return number_in(request.POST.get("expected_version", ""))
