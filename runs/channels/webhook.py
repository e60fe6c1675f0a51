"""Signed webhooks: one POST a notice, under a stable id, as Standard Webhooks describes."""

import http.client
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from runs.channels import web_call
from runs.channels.notice import NotDelivered, Notice, shown, without
from runs.rules import signatures
from runs.rules.addresses import AddressRefused, Network

SECONDS = 10.0
LONGEST_ASKED = timedelta(hours=6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """`secrets` are those that are valid now: while one is rotated, both sign."""

    url: str
    secrets: Sequence[str]

    @property
    def unshown(self) -> list[str]:
        """What an answer must not repeat: an address may be a secret of its own."""
        place = urlsplit(self.url)
        parts = [self.url, place.path, place.query, *place.path.split("/")]
        return [part for part in [*self.secrets, *parts] if part]


def deliver(notice: Notice, to: Endpoint, *, allowed: Sequence[Network], now: datetime) -> str:
    """What the receiver answered. Raises NotDelivered."""
    body = json.dumps(
        {
            "type": notice.kind,
            "timestamp": notice.at,
            "data": {"title": notice.title, "link": notice.link, "severity": notice.severity},
        }
    ).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Milepost",
        **signatures.headers(notice.id, body, secrets=to.secrets, now=now),
    }
    try:
        answered = web_call.post(to.url, body, headers=headers, allowed=allowed, seconds=SECONDS)
    except AddressRefused as refused:
        raise NotDelivered(str(refused)) from None
    except (OSError, http.client.HTTPException) as error:
        said = without(f"{type(error).__name__}: {error}", secrets=to.unshown)
        raise NotDelivered(f"Nothing came back: {said}") from None
    return _taken(answered, to)


def _taken(answered: web_call.Answered, to: Endpoint) -> str:
    said = f"{answered.status} {shown(answered.body, secrets=to.unshown)}".rstrip()
    if 200 <= answered.status < 300:
        return said
    reason = f"The receiver answered {answered.status}."
    if 300 <= answered.status < 400:
        reason = f"The receiver answered {answered.status}; redirects are not followed."
    raise NotDelivered(reason, answer=said, after=_asked_for(answered.retry_after))


def _asked_for(text: str) -> timedelta | None:
    seconds = int(text) if text.isascii() and text.isdecimal() and len(text) < 8 else 0
    return min(timedelta(seconds=seconds), LONGEST_ASKED) if seconds else None
