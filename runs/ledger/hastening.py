"""A person has a message of the outbox tried again now instead of later."""

from uuid import UUID

from django.db import transaction

from runs.ledger import audit, transitions
from runs.ledger.commits import commits
from runs.models import Message
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.policy import Actor, Verb, may_see_tenant, require
from runs.rules.states import FINAL, DeliveryState


class NoSuchMessage(Exception):
    """There is no such message in the outbox, or it belongs to a tenant this actor does not see."""


@commits("delivery_hastened", when=bool)
def retry_now(actor: Actor, message_id: UUID) -> bool:
    """It is due at once; False when it is on its way, or has nothing left to deliver.

    Whether it may be sent is decided as before: what is in doubt is not sent for being hurried (I6).
    """
    require(actor, Verb.OPERATE)
    with transaction.atomic():
        seen = Message.objects.filter(pk=message_id).first()
        if seen is None or not may_see_tenant(actor, seen.tenant_id):
            raise NoSuchMessage(f"There is no message {message_id} in the outbox.")
        run, now = transitions.lock(seen.run_id) if seen.run_id else None, db_now()
        moved = Message.objects.filter(
            pk=message_id, state=DeliveryState.PENDING.value, lease_until=None, due_at__gt=now
        ).update(due_at=now)
        if not moved:
            return False
        body = {"message": str(message_id), "lane": seen.lane, "attempts": seen.attempts}
        if run is not None and run.state not in FINAL:
            told = Draft(kind="outbox.hastened", body=canonical.dumps(body))
            transitions.note(run, events=[told], now=now, actor=actor.name)
        else:
            told = Draft(
                kind="outbox.hastened", body=canonical.dumps({"run": str(seen.run_id), **body})
            )
            audit.append_to_tenant(seen.tenant_id, [told], now=now, actor=actor.name)
    return True
