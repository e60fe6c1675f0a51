"""What every page needs from its request: who asks, how to answer, where in a list they are."""

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import wraps
from typing import Any

from django.core import signing
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django_htmx.middleware import HtmxDetails

from runs.queries.actors import actor_for
from runs.queries.clock import db_now
from runs.queries.keyset import Position
from runs.rules.policy import Actor, NotAllowed, Verb, may
from runs.web.preferred import bring, zone_of
from runs.web.proofs import signed_in_at

View = Callable[..., HttpResponseBase]
CURSOR_SALT = "milepost.cursor"
MOST_DIGITS = 19


class HtmxRequest(HttpRequest):
    """A request that passed django-htmx's middleware."""

    htmx: HtmxDetails


def actor_of(request: HttpRequest) -> Actor:
    """The signed-in person as policy knows them; asked once a request."""
    known: Actor | None = getattr(request, "_milepost_actor", None)
    if known is None:
        known = request._milepost_actor = _actor(request)  # type: ignore[attr-defined]
    return known


def _actor(request: HttpRequest) -> Actor:
    if not request.user.is_authenticated:
        raise PermissionDenied("Sign in first.")
    return replace(actor_for(request.user), signed_in_at=signed_in_at(request))


def permitted(verb: Verb) -> Callable[[View], View]:
    """Let a view answer only those who may do `verb`; the 403 page names what is missing."""

    def guard(view: View) -> View:
        @wraps(view)
        def answer(request: HtmxRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not may(actor_of(request), verb):
                raise NotAllowed(actor_of(request), verb)
            return view(request, *args, **kwargs)

        return answer

    return guard


operator = permitted(Verb.OPERATE)
payload_viewer = permitted(Verb.VIEW_PAYLOADS)
administrator = permitted(Verb.ADMINISTER)


def page_or_part(
    request: HtmxRequest, page: str, part: str, /, *, status: int = 200, **context: Any
) -> HttpResponse:
    """The whole page, or only its part where htmx asks; `now` is the one time of the answer."""
    context.setdefault("now", db_now())
    response = render(request, part if request.htmx else page, context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def unchanged(request: HtmxRequest, version: object) -> HttpResponse | None:
    """204 when the reader already has this version: htmx then swaps nothing."""
    if request.htmx and request.GET.get("v") == str(version):
        return HttpResponse(status=204)
    return None


def number_in(text: str) -> int | None:
    """A whole number that was sent; nothing where it is none, or one that no row can have."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < MOST_DIGITS else None


def position_in(request: HttpRequest, name: str = "at") -> Position | None:
    """Where in a list the reader is; a forged or foreign cursor is the top."""
    try:
        return Position(**signing.loads(request.GET.get(name, ""), salt=CURSOR_SALT))
    except (signing.BadSignature, TypeError):
        return None


def link_to(request: HttpRequest, **changes: Position | str | None) -> str:
    """This list's address with other names: a cursor, a filter, a sort; the rest kept."""
    query = request.GET.copy()
    for name in ("v", *changes):
        query.pop(name, None)
    for name, value in changes.items():
        if isinstance(value, Position):
            query[name] = signing.dumps(asdict(value), salt=CURSOR_SALT, compress=True)
        elif value is not None:
            query[name] = value
    return f"?{query.urlencode()}"


class Reader:
    """Middleware: how a person likes to read, and 403 for what they may not do."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with timezone.override(zone_of(request)):
            response = self.get_response(request)
        bring(request, response)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> None:
        if isinstance(exception, NotAllowed):
            raise PermissionDenied(str(exception)) from exception
