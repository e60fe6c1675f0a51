"""The digest over a list of planned calls: what exactly an approval binds."""

import hashlib
from collections.abc import Iterable

from runs.rules import canonical


def call_digest(
    *, effect: str, fingerprint: str, resource: str, request: str, evidence: str
) -> str:
    """One call with its evidence and its effect's declaration; texts are canonical JSON."""
    return canonical.digest(canonical.dumps([effect, fingerprint, resource, request, evidence]))


def list_digest(digests: Iterable[str]) -> str:
    """The whole list, in order."""
    running = hashlib.sha256()
    for digest in digests:
        running.update(digest.encode())
        running.update(b"\n")
    return running.hexdigest()


def keys_digest(before: str, keys: Iterable[str]) -> str:
    """The digest of all keys accepted up to a checkpoint: those before, then these in order."""
    return list_digest([before, *sorted(keys)])
