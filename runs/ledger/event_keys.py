"""Keys of senders outside: made, shown once, used within bounds, revoked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django.db import transaction
from django.db.models import F, Q

from runs.ledger import audit
from runs.ledger.commits import commits
from runs.models import EventKey
from runs.queries.clock import db_now
from runs.rules import canonical, event_keys
from runs.rules.chain import Draft
from runs.rules.policy import Actor, Verb, may_see_tenant, require


class NoSuchKey(Exception):
    """There is no living key of this handle; `events keys list` names those there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """The token is nowhere else: whoever loses it needs another key."""

    handle: str
    name: str
    token: str
    events: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """Whose events this key may bring; `events` empty means every name."""

    handle: str
    name: str
    tenant_id: int
    events: frozenset[str]

    def may_bring(self, event: str) -> bool:
        return not self.events or event in self.events


@commits("event_key_made")
def add(actor: Actor, *, tenant_id: int, name: str, events: Sequence[str]) -> NewKey:
    """A key beside those there are: the old one is revoked when every sender has the new one."""
    require(actor, Verb.OPERATE)
    made, names = event_keys.make(), event_keys.event_names(events)
    with transaction.atomic():
        now = db_now()
        EventKey.objects.create(
            tenant_id=tenant_id,
            name=name,
            handle=made.handle,
            secret_digest=made.digest,
            events=canonical.dumps(names),
            created_by=actor.name[:200],
            created_at=now,
        )
        body = {"handle": made.handle, "name": name, "events": names}
        told = Draft(kind="event_key.made", body=canonical.dumps(body))
        audit.append_to_tenant(tenant_id, [told], now=now, actor=actor.name)
    return NewKey(handle=made.handle, name=name, token=made.token, events=names)


@commits("event_key_revoked")
def revoke(actor: Actor, handle: str) -> str:
    """It opens nothing from now on; the name it had."""
    require(actor, Verb.OPERATE)
    with transaction.atomic():
        now, key = db_now(), EventKey.objects.filter(handle=handle).first()
        if key is None or not may_see_tenant(actor, key.tenant_id):
            raise NoSuchKey(f"There is no key {handle!r}.")
        living = EventKey.objects.filter(pk=key.pk, revoked_at=None)
        if not living.update(revoked_at=now, revoked_by=actor.name[:200]):
            raise NoSuchKey(f"The key {handle} was revoked already, by {key.revoked_by}.")
        told = Draft(
            kind="event_key.revoked",
            body=canonical.dumps({"handle": handle, "name": key.name}),
        )
        audit.append_to_tenant(key.tenant_id, [told], now=now, actor=actor.name)
    return key.name


@commits("event_key_used", when=lambda found: isinstance(found, Admitted))
def admit(token: str) -> Admitted | Literal["unknown", "too often"]:
    """Who brings an event, if this key is known, lives, and is not used too often."""
    handle = event_keys.handle_in(token)
    key = EventKey.objects.filter(handle=handle, revoked_at=None).first() if handle else None
    if not event_keys.fits(token, key.secret_digest if key else "") or key is None:
        return "unknown"
    if not _counted(key):
        return "too often"
    return Admitted(
        handle=key.handle,
        name=key.name,
        tenant_id=key.tenant_id,
        events=frozenset(canonical.loads(key.events)),
    )


def _counted(key: EventKey) -> bool:
    """Counted by conditional updates, so that no two requests take the last place."""
    now, row = db_now(), EventKey.objects.filter(pk=key.pk)
    over = Q(window_began=None) | Q(window_began__lte=now - event_keys.WINDOW)
    if row.filter(over).update(window_began=now, window_count=1, last_used_at=now):
        return True
    return bool(
        row.filter(window_count__lt=event_keys.PER_WINDOW).update(
            window_count=F("window_count") + 1, last_used_at=now
        )
    )
