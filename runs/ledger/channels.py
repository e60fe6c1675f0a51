"""A channel is made, changed, paused, given a new secret, removed; each writes one event on its tenant's chain."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from runs.conf import sealing_keys, site
from runs.ledger import audit, outbox, tenants
from runs.ledger.commits import commits
from runs.models import Channel, Message, Tenant
from runs.queries.channels import sealed_in
from runs.queries.clock import db_now
from runs.rules import canonical, sealing, signatures
from runs.rules.chain import Draft
from runs.rules.channels import (
    OLD_SECRET_FOR,
    TEST_KIND,
    ChannelKind,
    ChannelRefused,
    ChannelState,
    ChannelWish,
    Severity,
    lane_of,
    refusals,
)
from runs.rules.policy import Actor, Verb, may_see_tenant, require
from runs.rules.states import DeliveryState


class NoSuchChannel(Exception):
    """There is no such channel, or it belongs to a tenant this actor does not see."""


class ChannelChanged(Exception):
    """The channel was changed since it was looked at; look again before anything is done to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A channel with the secret that was made for it, shown this once; empty where it has none."""

    channel: Channel
    secret: str = ""


@commits("channel_committed")
def create(actor: Actor, wish: ChannelWish, *, tenant: str = tenants.DEFAULT) -> Secret:
    """Raises ChannelRefused, NoSuchTenant, NotAllowed."""
    require(actor, Verb.ADMINISTER)
    secret = signatures.new_secret() if wish.kind == ChannelKind.WEBHOOK else ""
    with transaction.atomic():
        owner, now = tenants.owner(actor, tenant, to="make a channel"), db_now()
        _check(wish, tenant_id=owner.pk)
        if wish.led is None:
            raise ChannelRefused({"address": "Say where it leads."})
        channel = Channel(tenant=owner, created_by=actor.name[:200], created_at=now)
        _take(channel, wish, secret=secret)
        channel.updated_at = now
        channel.save()
        _tell(channel, "made", told=_told(channel), by=actor, now=now)
    return Secret(channel=channel, secret=secret)


@commits("channel_committed")
def change(actor: Actor, channel_id: int, wish: ChannelWish, *, seen: int | None = None) -> Channel:
    """Another name, routing or address; its kind and its secret stay.

    Raises ChannelRefused, NoSuchChannel, ChannelChanged, NotAllowed.
    """
    with transaction.atomic():
        channel = _held(actor, channel_id, seen=seen)
        _check(wish, tenant_id=channel.tenant_id, but=channel.pk)
        if wish.kind != channel.kind:
            raise ChannelRefused({"kind": "The kind of a channel stays; make another one."})
        _take(channel, wish, secret="")
        if wish.led is not None:
            _as_new(channel)
        _save(channel, "changed", told=_told(channel), by=actor)
    return channel


@commits("channel_committed")
def pause(actor: Actor, channel_id: int, *, because: str, seen: int | None = None) -> Channel:
    """It is put nothing, and what was put before waits; who else would be told stays told."""
    with transaction.atomic():
        channel = _held(actor, channel_id, seen=seen)
        if channel.state == ChannelState.ACTIVE:
            channel.state, channel.paused_note = ChannelState.PAUSED.value, because
            _save(channel, "paused", told={"because": because}, by=actor)
    return channel


@commits("channel_committed")
def resume(actor: Actor, channel_id: int, *, seen: int | None = None) -> Channel:
    """It is told again, and tries at once what waited."""
    with transaction.atomic():
        channel = _held(actor, channel_id, seen=seen)
        if channel.state == ChannelState.PAUSED:
            channel.state, channel.paused_note = ChannelState.ACTIVE.value, ""
            _as_new(channel)
            _waiting(channel).filter(lease_until=None).update(due_at=db_now())
            _save(channel, "resumed", told={}, by=actor)
    return channel


@commits("channel_committed")
def rotate(actor: Actor, channel_id: int, *, seen: int | None = None) -> Secret:
    """A new secret; the one before signs beside it for a day, so that no notice is refused meanwhile.

    Raises ChannelRefused where it has none.
    """
    secret = signatures.new_secret()
    with transaction.atomic():
        channel = _held(actor, channel_id, seen=seen)
        if channel.kind != ChannelKind.WEBHOOK:
            raise ChannelRefused({"kind": "Only a signed webhook has a secret of its own."})
        kept = _opened(channel)
        channel.old_secret_until = db_now() + OLD_SECRET_FOR
        _seal(channel, {**kept, "secrets": [secret, *kept["secrets"][:1]]})
        _save(channel, "rotated", told={}, by=actor)
    return Secret(channel=channel, secret=secret)


@commits("channel_committed")
def remove(actor: Actor, channel_id: int, *, because: str, seen: int | None = None) -> Channel:
    """Nobody is told by it any more, what waited for it is put away, and its secrets are erased."""
    with transaction.atomic():
        channel, now = _held(actor, channel_id, seen=seen), db_now()
        channel.state, channel.sealed, channel.removed_at = ChannelState.REMOVED.value, "", now
        channel.old_secret_until = None
        _waiting(channel).update(
            state=DeliveryState.DEAD.value,
            settled_at=now,
            lease_until=None,
            error="its channel was removed",
        )
        _save(channel, "removed", told={"because": because}, by=actor)
    return channel


@commits("channel_test_put")
def put_test(actor: Actor, channel_id: int) -> UUID:
    """A notice that says it is a test, tried once; the message holds what the receiver answered."""
    with transaction.atomic():
        channel = _held(actor, channel_id, seen=None)
        if channel.state != ChannelState.ACTIVE:
            raise ChannelRefused({"state": "It is paused; resume it first."})
        payload: dict[str, Any] = {
            "title": f"Test of the channel {channel.name}",
            "link": f"{site()}/channels/{channel.pk}/",
            "severity": Severity.INFO.value,
            "at": db_now().isoformat(),
        }
        message = outbox.put(
            tenant_id=channel.tenant_id,
            run_id=None,
            lane=lane_of(channel.pk),
            kind=TEST_KIND,
            dedup_key=f"{TEST_KIND}:{uuid4()}",
            payload=payload,
        )
        _tell(channel, "tested", told={"message": str(message)}, by=actor, now=db_now())
    return message


def _check(wish: ChannelWish, *, tenant_id: int, but: int = 0) -> None:
    errors = refusals(wish)
    # The tenant's row is locked first, so that of two who take one name the second is told.
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
    same = Channel.objects.filter(tenant_id=tenant_id, name=wish.name, removed_at=None)
    if same.exclude(pk=but).exists():
        errors["name"] = f"There is a channel {wish.name!r} already."
    if errors:
        raise ChannelRefused(errors)


def _take(channel: Channel, wish: ChannelWish, *, secret: str) -> None:
    channel.name, channel.kind = wish.name, wish.kind
    channel.severities = canonical.dumps(sorted(wish.severities))
    channel.workflows = canonical.dumps(sorted(set(wish.workflows)))
    if wish.led is not None:
        kept = _opened(channel) if channel.sealed else {"secrets": [secret] if secret else []}
        channel.target = wish.led.target[:300]
        _seal(channel, {**kept, "address": wish.led.address})


def _opened(channel: Channel) -> dict[str, Any]:
    try:
        return sealed_in(channel)
    except sealing.CannotUnseal:
        told = "Its secrets were sealed under another SECRET_KEY; remove it and make it anew."
        raise ChannelRefused({"address": told}) from None


def _seal(channel: Channel, kept: Mapping[str, Any]) -> None:
    channel.sealed = sealing.seal(canonical.dumps(dict(kept)), keys=sealing_keys())


def _as_new(channel: Channel) -> None:
    channel.failures, channel.dead_at, channel.last_error = 0, None, ""


def _waiting(channel: Channel) -> Any:
    return Message.objects.filter(lane=lane_of(channel.pk), state=DeliveryState.PENDING.value)


def _held(actor: Actor, channel_id: int, *, seen: int | None) -> Channel:
    """The channel, locked. Raises NoSuchChannel, ChannelChanged, NotAllowed."""
    require(actor, Verb.ADMINISTER)
    found = Channel.objects.filter(pk=channel_id, removed_at=None).first()
    if found is None or not may_see_tenant(actor, found.tenant_id):
        raise NoSuchChannel(f"There is no channel {channel_id}.")
    Tenant.objects.select_for_update(no_key=True).get(pk=found.tenant_id)
    channel = Channel.objects.select_for_update(no_key=True).get(pk=channel_id)
    if channel.removed_at is not None or (seen is not None and seen != channel.revision):
        raise ChannelChanged(f"The channel {channel.name} was changed since you looked at it.")
    return channel


def _save(channel: Channel, what: str, *, told: Mapping[str, Any], by: Actor) -> None:
    now = db_now()
    channel.revision, channel.updated_at = channel.revision + 1, now
    channel.save()
    _tell(channel, what, told=told, by=by, now=now)


def _told(channel: Channel) -> dict[str, Any]:
    """What the audit may know: where it leads as shown, never how."""
    return {
        "kind": channel.kind,
        "target": channel.target,
        "severities": canonical.loads(channel.severities),
        "workflows": canonical.loads(channel.workflows),
    }


def _tell(
    channel: Channel, what: str, *, told: Mapping[str, Any], by: Actor, now: datetime
) -> None:
    body = canonical.dumps({"channel": channel.pk, "name": channel.name, **told})
    told_of = Draft(kind=f"channel.{what}", body=body)
    audit.append_to_tenant(channel.tenant_id, [told_of], now=now, actor=by.name)
