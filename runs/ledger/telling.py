"""People are told: one message for each channel that the news takes, and one by mail to those it is for."""

import hashlib
from collections.abc import Mapping, Sequence
from uuid import UUID

from runs.conf import site
from runs.ledger import outbox
from runs.queries import channels, people
from runs.queries.clock import db_now
from runs.rules.channels import KEY_AT_MOST, MAIL_LANE, Severity, lane_of, title_of


def tell(
    *,
    tenant_id: int,
    run_id: UUID | None,
    kind: str,
    title: str,
    link: str,
    dedup_key: str,
    severity: str = "warning",
    workflow: str = "",
    groups: Sequence[str] = (),
    users: Sequence[int] = (),
    but_not: int = 0,
) -> int:
    """How many messages were put into the caller's transaction, once for each `dedup_key` and lane.

    Title and link only: what it is about stays on the page, behind the sign-in. Mail goes to `users`
    and to those of `groups`; where nobody is named and no living channel fits, to all who may act.
    `but_not` is a channel that the news is about.
    """
    fits = channels.fitting(tenant_id, severity=Severity(severity), workflow=workflow)
    fitting = [channel for channel in fits if channel.pk != but_not]
    named = bool(groups or users)
    nobody_else = not any(channel.dead_at is None for channel in fitting)
    to: list[str] = []
    if named or nobody_else:
        to = people.addresses(tenant_id=tenant_id, groups=groups, users=users)
    payload = {
        "title": title_of(title),
        "link": f"{site()}{link}",
        "severity": severity,
        "at": db_now().isoformat(),
    }
    lanes: dict[str, Mapping[str, object]] = {lane_of(each.pk): payload for each in fitting}
    if to:
        lanes[MAIL_LANE] = {**payload, "to": to}
    for lane, what in lanes.items():
        outbox.put(
            tenant_id=tenant_id,
            run_id=run_id,
            lane=lane,
            kind=kind,
            dedup_key=_key(dedup_key, lane),
            payload=what,
        )
    return len(lanes)


def _key(dedup_key: str, lane: str) -> str:
    """Unique for each lane, and short enough to be kept."""
    whole = f"{dedup_key} @ {lane}"
    if len(whole) <= KEY_AT_MOST:
        return whole
    return f"{whole[: KEY_AT_MOST - 65]} {hashlib.sha256(whole.encode()).hexdigest()}"
