"""The two independent facts under a verdict, in words: the ping over HTTP, the database's lease and progress."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from runs.rules.words import span


def heartbeat_fact(heard_at: datetime | None, *, now: datetime) -> str:
    # It may have come after `now` was read.
    return (
        f"heartbeat {span(max(now - heard_at, timedelta()))} ago"
        if heard_at
        else "no heartbeat yet"
    )


def database_fact(facts: Mapping[str, Any], *, judged_at: datetime) -> str:
    """What the database said when it was judged; nothing for what it knows nothing of."""
    known: Mapping[str, Any] = facts.get("database") or {}
    progress, renewed = _moment(known, "progress_at"), _moment(known, "renewed_at")
    said = []
    if progress is not None:
        said.append(f"progress {span(judged_at - progress)} before")
    if known.get("lives") is not None:
        lease = "lease good" if known["lives"] else "lease over"
        said.append(f"{lease}, renewed {span(judged_at - renewed)} before" if renewed else lease)
    if (start_by := _moment(known, "start_by")) is not None:
        said.append(f"to begin by {start_by:%H:%M:%S} UTC")
    return ", ".join(said)


def _moment(facts: Mapping[str, Any], name: str) -> datetime | None:
    text = facts.get(name)
    return datetime.fromisoformat(text) if isinstance(text, str) else None
