"""Ping keys are made, shown once, replaced while the old one still holds, and ended."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from monitors.models import PingKey
from monitors.rules import ping_keys
from monitors.rules.ping_keys import LONGEST_OVERLAP, OVERLAP
from runs.ledger import audit, tenants
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.queries.visibility import visible_to
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.policy import Actor, Verb, require


class NoSuchPingKey(Exception):
    """There is no living ping key of this number, or this actor does not belong to its tenant."""


class BadOverlap(ValueError):
    """The old key may hold for at most 90 days more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPingKey:
    """The key is nowhere else: whoever loses it needs another one."""

    id: int
    key: str
    old_ones_until: datetime | None


@commits("ping_key_committed")
def renew(
    actor: Actor, *, tenant: str = tenants.DEFAULT, overlap: timedelta = OVERLAP
) -> NewPingKey:
    """Another key for a tenant, or its first; those before it hold for `overlap` more."""
    require(actor, Verb.OPERATE)
    if not timedelta(0) <= overlap <= LONGEST_OVERLAP:
        raise BadOverlap(f"At most {LONGEST_OVERLAP.days} days.")
    made = ping_keys.make()
    with transaction.atomic():
        owner, now = tenants.owner(actor, tenant, to="make a ping key"), db_now()
        until = now + overlap
        # One that was to end sooner anyway keeps its end.
        lasting = Q(expires_at=None) | Q(expires_at__gt=until)
        replaced = PingKey.objects.filter(lasting, tenant=owner).update(expires_at=until)
        key = PingKey.objects.create(
            tenant=owner,
            digest=made.digest,
            hint=made.hint,
            created_by=actor.name[:200],
            created_at=now,
        )
        _tell(key, "made", by=actor, now=now, replaced=replaced)
    return NewPingKey(id=key.pk, key=made.key, old_ones_until=until if replaced else None)


@commits("ping_key_committed")
def end(actor: Actor, key_id: int) -> PingKey:
    """It opens nothing from now on."""
    require(actor, Verb.OPERATE)
    with transaction.atomic():
        now = db_now()
        key = visible_to(actor, PingKey.objects.filter(_living(now))).filter(pk=key_id).first()
        if key is None or not PingKey.objects.filter(_living(now), pk=key_id).update(
            expires_at=now
        ):
            raise NoSuchPingKey("There is no such ping key, or it has ended already.")
        _tell(key, "ended", by=actor, now=now)
    return key


def _living(now: datetime) -> Q:
    return Q(expires_at=None) | Q(expires_at__gt=now)


def _tell(key: PingKey, verb: str, *, by: Actor, now: datetime, **more: int) -> None:
    body = canonical.dumps({"key": key.pk, "hint": key.hint, **more})
    event = Draft(kind=f"ping_key.{verb}", body=body)
    audit.append_to_tenant(key.tenant_id, [event], now=now, actor=by.name)
