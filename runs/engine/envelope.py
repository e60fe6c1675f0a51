"""What leaves with a call and what is kept of its answer: secrets go in last and come out first (R11)."""

import logging
from typing import Any, cast

from runs.definition.effects import Effect
from runs.engine import secrets
from runs.rules import canonical
from runs.rules.calls import CallRecord

log = logging.getLogger(__name__)


def with_secrets(record: CallRecord) -> Any:
    """What really leaves: secrets are put in at the last moment and stored nowhere (R11)."""
    request = canonical.loads(record.request)
    return canonical.with_secrets(request, secrets.values_of(canonical.secrets_in(request)))


def as_kept(answer: Any) -> dict[str, Any]:
    """The receiver's answer as it is kept: without secrets, and never lost for its form (R7, R11)."""
    kept = answer if isinstance(answer, dict) else {"value": answer}
    try:
        canonical.dumps(kept)
    except canonical.NotCanonical:
        return {"unstorable": secrets.safe(repr(answer))[:4000]}
    return cast("dict[str, Any]", secrets.without(kept))


def receiver_id_of(effect: Effect, answer: Any) -> str:
    """The receiver's own id, where the effect says how to read it."""
    if effect.id_of is None or not isinstance(answer, dict):
        return ""
    # What has been done is known, whatever the author's `id_of` makes of the answer.
    try:
        return secrets.safe(str(effect.id_of(answer)))
    except Exception:
        log.exception("call.noreceiver_id_of", extra={"effect": effect.name})
        return ""


def as_shown(record: CallRecord) -> dict[str, Any]:
    """A call as a person is shown it."""
    return {
        "effect": record.effect,
        "resource": record.resource,
        "request": canonical.loads(record.request),
        "request_digest": record.request_digest,
        "key": record.key,
        "state": record.state.value,
        "sends": record.sends,
        **({"unsent": True} if record.unsent else {}),
    }
