"""What programs outside say to Milepost: `POST /events/<name>`, answered in JSON sentences."""

import json
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.db import Error
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from runs.ledger import event_keys, waking
from runs.ledger.event_keys import Admitted
from runs.rules import canonical
from runs.rules.event_keys import EVENT_NAME

MOST_DIGITS = 12
LARGEST = 256 * 1024
LONGEST_ID = 300
SAID = {
    "used": (202, "A run was waiting for it and goes on."),
    "kept": (202, "No run waits for it yet; it is kept until one does."),
    "late": (202, "Whoever waited for it has gone without it; it is kept, and shown as late."),
    "duplicate": (200, "This message was delivered before; nothing has changed."),
    "conflict": (
        409,
        "This message id was delivered before with other content; nothing has changed.",
    ),
}


class Unusable(Exception):
    """A request that is answered with this status and sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


@csrf_exempt
@login_not_required
def receive_event(request: HttpRequest, name: str) -> JsonResponse:
    """Take one event in; the key is told in `Authorization: Bearer ...`."""
    try:
        if request.method != "POST":
            raise Unusable(405, "An event is delivered by POST.")
        told = _taken(request, name)
    except Unusable as unusable:
        return _answer(unusable.status, unusable.sentence)
    except Error:
        return _answer(503, "The database does not answer now; deliver it again later.")
    status, sentence = SAID[told["outcome"]]
    return _answer(status, sentence, **told)


def _taken(request: HttpRequest, name: str) -> dict[str, Any]:
    key = _key_of(request)
    if not EVENT_NAME.fullmatch(name) or not key.may_bring(name):
        raise Unusable(404, "This key delivers no event of that name.")
    body = _body_of(request)
    message_id = request.headers.get("Idempotency-Key") or body.get("message_id")
    told = {
        "message_id": _text(message_id, "message_id (or the header Idempotency-Key)"),
        "correlation_id": _text(body.get("correlation_id"), "correlation_id"),
    }
    payload = body.get("payload", {})
    if not isinstance(payload, dict):
        raise Unusable(422, "payload has to be a JSON object.")
    try:
        outcome = waking.deliver_event(
            tenant_id=key.tenant_id,
            name=name,
            payload=payload,
            source=f"key {key.name} {key.handle}"[:200],
            **told,
        )
    except canonical.NotCanonical as unusable:
        raise Unusable(422, f"payload: {unusable}") from None
    return {"event": name, **told, "outcome": outcome}


def _key_of(request: HttpRequest) -> Admitted:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    found = event_keys.admit(token.strip() if scheme.lower() == "bearer" else "")
    if found == "too often":
        raise Unusable(429, "This key is used too often; wait a minute.")
    if not isinstance(found, Admitted):
        raise Unusable(401, "Send a living key of yours as Authorization: Bearer <key>.")
    return found


def _body_of(request: HttpRequest) -> dict[str, Any]:
    told = request.headers.get("Content-Length", "0")
    # What is too large is refused before any of it is read.
    if not told.isdecimal() or len(told) > MOST_DIGITS or int(told) > LARGEST:
        raise Unusable(413, f"An event has at most {LARGEST:,} bytes.")
    content = request.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise Unusable(413, f"An event has at most {LARGEST:,} bytes.")
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        raise Unusable(422, "The body is no JSON.") from None
    if not isinstance(body, dict):
        raise Unusable(422, "The body has to be a JSON object.")
    return body


def _text(value: Any, named: str) -> str:
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= LONGEST_ID:
        raise Unusable(422, f"{named} has to be printable text of 1 to {LONGEST_ID} characters.")
    return value


def _answer(status: int, sentence: str, **more: Any) -> JsonResponse:
    response = JsonResponse({"said": sentence, **more}, status=status)
    if status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    if status == 405:
        response.headers["Allow"] = "POST"
    return response
