"""Somebody lets another person answer in their place until a day that is named, or takes it back."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from approvals.models import Delegation
from approvals.queries.delegations import visible_delegation
from approvals.queries.people import DECIDE
from runs.ledger import audit, tenants
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.queries.people import people_of
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.policy import Actor, NotAllowed, Verb, may

LONGEST = timedelta(days=366)


class DelegationRefused(ValueError):
    """This cannot be handed on so; the message says what has to be otherwise."""


@commits("delegation_committed")
def delegate(
    actor: Actor,
    *,
    to: str,
    until: datetime,
    giver: str = "",
    group: str = "",
    tenant: str = tenants.DEFAULT,
    because: str = "",
) -> Delegation:
    """Let `to` answer what the giver may answer; for somebody else only administrators do that.

    Raises DelegationRefused, NotAllowed, NoSuchTenant.
    """
    owner = tenants.owner(actor, tenant, to="delegate")
    with transaction.atomic():
        now = db_now()
        gives = _giver(actor, giver, owner.pk)
        _require_theirs(gives, group)
        made = Delegation.objects.create(
            tenant=owner,
            giver=gives,
            receiver=_receiver(gives, to, owner.pk),
            group=group,
            since=now,
            until=_end(until, now=now),
            because=because.strip()[:1000],
            made_by=actor.name,
        )
        _tell(made, "delegation.made", actor, now=now)
    return made


@commits("delegation_committed")
def end(actor: Actor, delegation_id: int) -> Delegation:
    """Take it back before its day. The giver may, the receiver may, and administrators.

    Raises NoSuchDelegation, NotAllowed, DelegationRefused.
    """
    with transaction.atomic():
        now = db_now()
        found = visible_delegation(actor, delegation_id)
        if actor.user_id not in (found.giver_id, found.receiver_id) and not may(
            actor, Verb.ADMINISTER
        ):
            raise NotAllowed(actor, Verb.ADMINISTER)
        ended = Delegation.objects.filter(pk=found.pk, ended_at__isnull=True, until__gt=now).update(
            ended_at=now, ended_by=actor.name
        )
        if not ended:
            raise DelegationRefused("It is over already.")
        _tell(found, "delegation.ended", actor, now=now)
    return found


def _giver(actor: Actor, name: str, tenant_id: int) -> User:
    if name and name != actor.name and not may(actor, Verb.ADMINISTER):
        raise NotAllowed(actor, Verb.ADMINISTER)
    found = User.objects.with_perm(DECIDE).filter(people_of(tenant_id), username=name or actor.name)
    if (gives := found.first()) is None:
        who = name or actor.name
        raise DelegationRefused(f"{who} is nobody who may decide here, so has nothing to hand on.")
    return gives


def _receiver(giver: User, name: str, tenant_id: int) -> User:
    found = User.objects.filter(people_of(tenant_id), username=name, is_active=True).first()
    if found is None:
        raise DelegationRefused(f"There is no active person {name!r} here.")
    if found == giver:
        raise DelegationRefused("One stands in for somebody else, not for oneself.")
    return found


def _require_theirs(giver: User, group: str) -> None:
    if group and not giver.groups.filter(name=group).exists():
        raise DelegationRefused(
            f"{giver.get_username()} is not in “{group}”, so cannot hand it on."
        )


def _end(until: datetime, *, now: datetime) -> datetime:
    if not now < until <= now + LONGEST:
        raise DelegationRefused(f"Name an end within the next {LONGEST.days} days.")
    return until


def _tell(row: Delegation, kind: str, actor: Actor, *, now: datetime) -> None:
    body = canonical.dumps(
        {
            "delegation": row.pk,
            "giver": row.giver.get_username(),
            "receiver": row.receiver.get_username(),
            "group": row.group,
            "until": row.until.isoformat(),
            "because_digest": canonical.digest(row.because) if row.because else "",
        }
    )
    draft = Draft(kind=kind, body=body)
    audit.append_to_tenant(row.tenant_id, [draft], now=now, actor=actor.name)
