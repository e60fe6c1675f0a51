"""Signatures of webhooks as Standard Webhooks describes them: made here, checked by who receives."""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

PREFIX = "whsec_"
VERSION = "v1"
TOLERANCE = timedelta(minutes=5)
ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"


class BadSignature(Exception):
    """This did not come from who shares the secret, or not now; take nothing from it."""


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def headers(
    message_id: str, body: bytes, *, secrets: Sequence[str], now: datetime
) -> dict[str, str]:
    """One signature for each secret that is valid, so that a receiver may know either."""
    seconds = str(int(now.timestamp()))
    signed = [_signature(message_id, seconds, body, secret=secret) for secret in secrets]
    return {ID: message_id, TIMESTAMP: seconds, SIGNATURE: " ".join(signed)}


def verified(
    given: Mapping[str, str],
    body: bytes,
    *,
    secrets: Sequence[str],
    now: datetime,
    tolerance: timedelta = TOLERANCE,
) -> str:
    """The message's id, the same for every repeat of it. Raises BadSignature."""
    told = {name.lower(): value for name, value in given.items()}
    message_id, seconds = told.get(ID, ""), told.get(TIMESTAMP, "")
    if not message_id or not (seconds.isascii() and seconds.isdecimal()):
        raise BadSignature(f"It has no {ID} and {TIMESTAMP}.")
    if abs(now.timestamp() - int(seconds)) > tolerance.total_seconds():
        raise BadSignature("It was signed too long ago, or its clock is wrong.")
    right = [_signature(message_id, seconds, body, secret=secret) for secret in secrets]
    for signature in told.get(SIGNATURE, "").split():
        if any(hmac.compare_digest(signature.encode(), each.encode()) for each in right):
            return message_id
    raise BadSignature("None of its signatures is made with this secret.")


def _signature(message_id: str, seconds: str, body: bytes, *, secret: str) -> str:
    signed = f"{message_id}.{seconds}.".encode() + body
    made = hmac.new(_key(secret), signed, hashlib.sha256).digest()
    return f"{VERSION},{base64.b64encode(made).decode()}"


def _key(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        raise BadSignature("The secret is not one of a webhook.") from None
