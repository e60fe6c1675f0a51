"""Votes as values, for tests without a database."""

from datetime import UTC, datetime
from typing import Any

from approvals.rules.case import Cast

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def a_vote(by: str, **more: Any) -> Cast:
    said: dict[str, Any] = {"user_id": None, "voice_id": None, "option": "approve", "digest": "d1"}
    return Cast(by=by, at=NOON, **(said | more))
