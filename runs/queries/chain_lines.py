"""An audit event as one line of a file: all that its hash covers, so that the chain can be checked elsewhere."""

from typing import Any

from runs.models import AuditEvent


def chain_line(event: AuditEvent, *, body: str) -> dict[str, Any]:
    """With its body, or with what stands there for whoever may not see it."""
    return {
        "seq": event.seq,
        "at": event.at.isoformat(),
        "kind": event.kind,
        "step": event.step,
        "fence": event.fence,
        "actor": event.actor,
        "body": body,
        "salt": event.salt,
        "payload_digest": event.payload_digest,
        "prev": event.prev,
        "hash": event.hash,
    }
