"""Every answer has an id, and the log names it too: what broke on a page is found there."""

import secrets
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseServerError
from django.template import loader

from config.logs import REQUEST_ID
from runs.web.preferred import choice

View = Callable[[HttpRequest], HttpResponseBase]


def identified(get_response: View) -> View:
    """It stands in front of all that makes pages, so that no answer of theirs is without one."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        setattr(request, REQUEST_ID, secrets.token_hex(6))
        response = get_response(request)
        response.headers["X-Request-ID"] = id_of(request)
        return response

    return answer


def id_of(request: object) -> str:
    return str(getattr(request, REQUEST_ID, ""))


def broken(request: HttpRequest) -> HttpResponse:
    """The page for an error of ours: it asks nothing of the database, which may be what broke."""
    known = {"request_id": id_of(request), "theme": choice(request, "theme")}
    page = loader.render_to_string("500.html", known)
    return HttpResponseServerError(page)
