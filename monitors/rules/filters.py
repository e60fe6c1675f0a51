"""What the words in a ping's body make of it, where a monitor looks at them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.errors import MessageError
from typing import Any

from monitors.rules.states import PingKind

LONGEST_LIST = 20
PLACES = ("subject", "body")
# A failure is looked for first: a report that names both words has failed.
IN_ORDER = (PingKind.FAIL, PingKind.SUCCESS, PingKind.START)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Words of failure, success and start, and where they are looked for."""

    fail: Sequence[str] = ()
    success: Sequence[str] = ()
    start: Sequence[str] = ()
    subject: bool = False
    body: bool = False

    def __bool__(self) -> bool:
        return bool((self.fail or self.success or self.start) and (self.subject or self.body))

    def words(self, kind: PingKind) -> Sequence[str]:
        said: Sequence[str] = getattr(self, kind.value)
        return said

    def to_json(self) -> dict[str, Any]:
        words = {kind.value: list(self.words(kind)) for kind in IN_ORDER if self.words(kind)}
        places = {place: True for place in PLACES if getattr(self, place)}
        return {**words, **places}


def filters_from(told: Mapping[str, Any]) -> Filters:
    return Filters(
        fail=tuple(told.get("fail", ())),
        success=tuple(told.get("success", ())),
        start=tuple(told.get("start", ())),
        subject=bool(told.get("subject", False)),
        body=bool(told.get("body", False)),
    )


def decoded(body: bytes) -> str:
    """Text for people and filters: what is no UTF-8 is marked, never refused."""
    return body.decode("utf-8", errors="replace")


def kind_by_words(filters: Filters, *, subject: str, body: bytes) -> PingKind:
    """What the words say; a ping with none of them counts for nothing."""
    looked_at = [subject] if filters.subject else []
    if filters.body:
        looked_at.append(decoded(body))
    for kind in IN_ORDER:
        if any(word in text for word in filters.words(kind) for text in looked_at):
            return kind
    return PingKind.IGNORED


def subject_of(body: bytes, *, media_type: str, header: str) -> str:
    """The subject of a mail that was posted whole, else what the request's own header says."""
    if media_type != "message/rfc822":
        return header
    try:
        return str(message_from_bytes(body, policy=policy.default).get("Subject", header))
    except (MessageError, ValueError, LookupError, AttributeError):
        return header
