"""Stable names: what a call carries to its receiver, and what a judgement is kept under."""

import base64
import hashlib
from typing import Any
from uuid import UUID

from runs.rules import canonical

KEY_PREFIX = "mp_"
LONGEST_RESOURCE = 200


class BadResource(ValueError):
    """This cannot name what a call is about; the text says why."""


def idempotency_key(
    *, run_id: UUID | str, scope: str, effect: str, resource: str | int, request_text: str
) -> str:
    """The same call makes the same key for ever; nothing of time or chance goes in."""
    parts = [
        "milepost.call.1",
        str(UUID(str(run_id))),
        scope,
        effect,
        resource_text(resource),
        canonical.digest(request_text),
    ]
    hashed = hashlib.sha256(canonical.dumps(parts).encode()).digest()
    return KEY_PREFIX + base64.b32encode(hashed).decode().rstrip("=").lower()


def resource_text(resource: str | int) -> str:
    """What a call is about, as the text it is stored and compared under."""
    if isinstance(resource, bool) or not isinstance(resource, str | int):
        raise BadResource(f"A resource is a string or a whole number, not {resource!r}.")
    text = str(resource)
    if not text or len(text) > LONGEST_RESOURCE:
        raise BadResource(
            f"A resource has 1 to {LONGEST_RESOURCE} characters, not {len(text)}: {text[:40]!r}. "
            "Use the receiver's id, or a digest of what is longer."
        )
    if not text.isprintable():
        raise BadResource(f"A resource is printable text, not {text!r}.")
    return text


def resource_beside(resource: str, request_text: str) -> str:
    """What a second request about the same thing is called, when a person lets it be sent too."""
    return f"{resource[: LONGEST_RESOURCE - 15]} #{canonical.digest(request_text)[:12]}"


def judgement_hash(
    *,
    question: str,
    judge: str,
    parameters: Any,
    input: Any,  # noqa: A002
    sample: int = 0,
) -> str:
    """One name for all that can change a judge's answer."""
    parts = ["milepost.judgement.1", question, judge, parameters, input, sample]
    return canonical.digest(canonical.dumps(parts))
