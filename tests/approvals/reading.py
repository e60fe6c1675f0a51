"""Reading the pages of decisions, and filling in their forms, as a browser would."""

import re
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from approvals.models import Decision
from tests.approvals.builders import (
    COMMENT,
    again,
)

HTMX = {"HX-Request": "true"}


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def at(decision: Decision, more: str = "") -> str:
    return f"/decisions/{decision.pk}/{more}"


def filled(decision: Decision, option: str = "approve", **more: Any) -> dict[str, Any]:
    """What a browser sends when somebody has filled in the form."""
    now = again(decision)
    shown = {"option": option, "comment": COMMENT, "confirm": str(decision.run_id)[-6:]}
    return shown | {"shown_digest": now.digest, "seen": now.seq} | more


def text_of(response: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", response.content.decode()))
