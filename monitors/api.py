"""What Milepost's own processes say of themselves: `POST /beats/`, signed, many beats in one request."""

from datetime import timedelta
from http import HTTPStatus
from uuid import UUID

from django.contrib.auth.decorators import login_not_required
from django.db import Error
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from monitors.ledger import pings
from monitors.rules.own import CLUSTER, code_of
from monitors.rules.pinging import Beat as Numbered
from monitors.rules.received import Received
from monitors.rules.states import MonitorKind, PingKind
from runs.conf import conf
from runs.queries.clock import db_now
from runs.rules import beats
from runs.rules.beats import Beat, UnusableBeats

# What came later than this was kept back on the way; it is shown with the time it was meant for.
KEPT_BACK = 2.0
# A beat every 10 s fills them in 30 minutes; the watch's own every second in two.
KEPT = 180
BY_HTTP = "milepost"


@csrf_exempt
@login_not_required
def receive_beats(request: HttpRequest) -> HttpResponse:
    """Take them in, in their order; the answer names those whom nobody watches (yet)."""
    if request.method != "POST":
        return _said(HTTPStatus.METHOD_NOT_ALLOWED, "Beats are sent by POST.")
    body = request.read(beats.LARGEST + 1)
    if len(body) > beats.LARGEST:
        return _said(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "That is more than any beats are.")
    signature = request.headers.get(beats.SIGNATURE, "")
    if not beats.is_signed(body, signature, secret=conf().secret):
        return _said(HTTPStatus.FORBIDDEN, "These are no beats of this installation.")
    try:
        unknown = [_named(beat) for beat in beats.heard(body) if not _taken(beat, request)]
    except UnusableBeats as unusable:
        return _said(HTTPStatus.BAD_REQUEST, str(unusable))
    except (Error, pings.MonitorChanging):
        return _said(HTTPStatus.SERVICE_UNAVAILABLE, "Nothing was kept; send them again.")
    return JsonResponse({"unknown": unknown})


def _taken(beat: Beat, request: HttpRequest) -> bool:
    taken = _receive(beat, _code(beat.kind, beat.subject), request)
    if beat.kind == MonitorKind.WORKER and not beat.age > KEPT_BACK:
        # Whichever of its workers beats, the cluster lives.
        _receive(beat, _code(MonitorKind.CLUSTER, CLUSTER), request, numbered=False)
    return taken


def _receive(beat: Beat, code: UUID, request: HttpRequest, *, numbered: bool = True) -> bool:
    # The watch begins anew at 1 each time it is started, and only its newest word matters.
    numbered = numbered and beat.kind != MonitorKind.WATCH
    kept_back = beat.age > KEPT_BACK
    outcome = pings.receive(
        Received(
            code=code,
            kind=PingKind.SUCCESS,
            beat=Numbered(fence=beat.fence, number=beat.number) if numbered else None,
            sent_at=db_now() - timedelta(seconds=beat.age) if kept_back else None,
            method="POST",
            scheme=request.scheme or "http",
            address=request.META.get("REMOTE_ADDR", "")[:45],
            agent=BY_HTTP,
            kept=KEPT,
        )
    )
    return outcome.what == "taken"


def _code(kind: str, subject: str) -> UUID:
    return code_of(kind, subject, secret=conf().secret)


def _named(beat: Beat) -> str:
    return f"{beat.kind}:{beat.subject}"


def _said(status: HTTPStatus, sentence: str) -> JsonResponse:
    return JsonResponse({"said": sentence}, status=status)
