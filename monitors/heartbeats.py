"""Pings come in here, before anything that pages need: no session, no sign-in, no redirect.

The one place where a GET writes: whoever knows a monitor's code, or a ping key, may ping.
"""

import hashlib
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from ipaddress import ip_address
from uuid import UUID

from django.db import Error
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from monitors.conf import behind_proxy
from monitors.ledger import pings, provisioning
from monitors.rules.addresses import SLUG, UUID_TEXT, Pinged, pinged
from monitors.rules.pinging import Beat
from monitors.rules.received import BODY_KEPT, BODY_READ, Received

log = logging.getLogger(__name__)
View = Callable[[HttpRequest], HttpResponseBase]
METHODS = ("GET", "HEAD", "POST")
LARGEST = 2**63 - 1
CHUNK = 64 * 1024
LONGEST_AGENT = 200
HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Cache-Control": "max-age=0, no-cache, no-store, must-revalidate, private",
    "X-Content-Type-Options": "nosniff",
    "Ping-Body-Limit": str(BODY_KEPT),
}
# Browsers ask first when a script sends a beat's headers.
ALLOWED = {
    "Access-Control-Allow-Methods": ", ".join(METHODS),
    "Access-Control-Allow-Headers": "Content-Type, X-Milepost-Beat, X-Milepost-Sent",
    "Access-Control-Expose-Headers": "Ping-Body-Limit",
    "Access-Control-Max-Age": "86400",
}


class Malformed(ValueError):
    """What was sent cannot be understood; the message is the answer's body."""


def take_pings(get_response: View) -> View:
    """Answer what is a ping at once; leave the rest to the pages."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        asked = pinged(request.path_info)
        return get_response(request) if asked is None else receive(request, asked)

    return answer


def receive(request: HttpRequest, asked: Pinged) -> HttpResponse:
    """One ping, answered in a word."""
    if request.method == "OPTIONS":
        return _said(request, 204, "", **ALLOWED)
    if request.method not in METHODS:
        return _said(
            request, 405, "method not allowed", Allow=ALLOWED["Access-Control-Allow-Methods"]
        )
    try:
        if not asked.possible:
            raise Malformed("invalid url format")
        return _taken(request, asked)
    except Malformed as malformed:
        return _said(request, 400, str(malformed))
    except provisioning.TooManyProvided as full:
        log.warning("ping.no_room", extra={"slug": asked.slug})
        return _said(request, 403, str(full))
    except (Error, pings.MonitorChanging) as error:
        # The one answer that may not be OK: nothing was kept, so the sender has to try again.
        log.error("ping.lost", extra={"why": f"{type(error).__name__}: {error}"})
        return _said(request, 503, "try again", **{"Retry-After": "5"})


def _taken(request: HttpRequest, asked: Pinged) -> HttpResponse:
    received = _received(request, asked)
    outcome = pings.receive(received)
    if outcome.what == "unknown" and outcome.tenant_id and request.GET.get("create") == "1":
        if not SLUG.fullmatch(received.slug):
            raise Malformed("invalid url format")
        made = provisioning.provide(received, tenant_id=outcome.tenant_id)
        outcome = pings.receive(received)
        if made and outcome.what == "taken":
            return _said(request, 201, "Created")
    match outcome.what:
        case "unknown":
            return _said(request, 404, "not found")
        case "ambiguous":
            return _said(request, 409, "ambiguous slug")
    return _said(request, 200, "OK")


def _received(request: HttpRequest, asked: Pinged) -> Received:
    meta, method = request.META, request.method or "GET"
    body, size = _body(request) if method == "POST" else (b"", 0)
    return Received(
        code=asked.code,
        key_digest=hashlib.sha256(asked.key.encode()).hexdigest() if asked.key else "",
        slug=asked.slug,
        kind=asked.kind,
        status=asked.status,
        rid=_rid(request),
        beat=_beat(meta.get("HTTP_X_MILEPOST_BEAT", "")),
        sent_at=_sent_at(meta.get("HTTP_X_MILEPOST_SENT", "")),
        method=method,
        scheme=request.scheme or "http",
        address=_address(request),
        agent=meta.get("HTTP_USER_AGENT", "")[:LONGEST_AGENT].replace("\x00", ""),
        subject=meta.get("HTTP_SUBJECT", ""),
        media_type=meta.get("CONTENT_TYPE", "").partition(";")[0].strip().lower(),
        body=body,
        size=size,
    )


def _body(request: HttpRequest) -> tuple[bytes, int]:
    """Its beginning, and how long it was; the rest is read only to let the sender finish."""
    # A body without a length ends by itself where the server says so; Django would read none of it.
    ends_by_itself = request.META.get("wsgi.input_terminated")
    stream = request.META["wsgi.input"] if ends_by_itself else request
    kept, size = b"", 0
    try:
        while size < BODY_READ and (chunk := stream.read(CHUNK)):
            kept += chunk[: BODY_KEPT - len(kept)]
            size += len(chunk)
    except OSError:
        log.info("ping.body_cut", extra={"size": size})
    return kept, size


def _rid(request: HttpRequest) -> UUID | None:
    if "rid=" not in request.META.get("QUERY_STRING", ""):
        return None
    said = request.GET.get("rid")
    if said is None:
        return None
    if not UUID_TEXT.fullmatch(said):
        raise Malformed("invalid uuid format")
    return UUID(said)


def _beat(said: str) -> Beat | None:
    if not said:
        return None
    fence, _, number = said.partition(",")
    fence, number = fence.strip(), number.strip()
    known = all(part.isascii() and part.isdigit() and len(part) < 20 for part in (fence, number))
    if not known or max(int(fence), int(number)) > LARGEST:
        raise Malformed("invalid beat")
    return Beat(fence=int(fence), number=int(number))


def _sent_at(said: str) -> datetime | None:
    if not said:
        return None
    try:
        return datetime.fromtimestamp(float(said), UTC)
    except (ValueError, OverflowError, OSError):
        raise Malformed("invalid time") from None


def _address(request: HttpRequest) -> str:
    said = request.META.get("REMOTE_ADDR", "")
    if behind_proxy():
        said = request.META.get("HTTP_X_FORWARDED_FOR", said).partition(",")[0].strip()
    try:
        return str(ip_address(said))[:45]
    except ValueError:
        return ""


def _said(request: HttpRequest, status: int, word: str, **more: str) -> HttpResponse:
    content = b"" if request.method == "HEAD" else word.encode()
    headers = {**HEADERS, "Content-Length": str(len(word)), **more}
    if status == 204:
        del headers["Content-Length"]
    return HttpResponse(
        content, status=status, headers=headers, content_type="text/plain; charset=utf-8"
    )
