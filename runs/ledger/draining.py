"""A person lets a worker finish what it holds and take nothing more, or takes that back."""

from uuid import UUID

from django.db import transaction

from runs.ledger import audit, tenants
from runs.ledger.commits import commits
from runs.models import AuditEvent, Tenant, Worker
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.policy import Actor, Verb, require
from runs.rules.states import WorkerState

DRAINED, TAKEN_BACK = "worker.drained", "worker.drain_taken_back"


@commits("drain_committed", when=bool)
def drain(actor: Actor, worker_id: UUID, *, because: str = "") -> bool:
    """Let a worker finish what it holds and take nothing more; False when it is gone or drains."""
    return _set(actor, worker_id, draining=True, because=because)


@commits("drain_committed", when=bool)
def take_back(actor: Actor, worker_id: UUID, *, because: str = "") -> bool:
    """Let it take work again; False when it is gone, or no person has drained it."""
    require(actor, Verb.OPERATE)
    if _last_said(worker_id) != DRAINED:
        return False
    return _set(actor, worker_id, draining=False, because=because)


def _set(actor: Actor, worker_id: UUID, *, draining: bool, because: str) -> bool:
    require(actor, Verb.OPERATE)
    with transaction.atomic():
        rows = Worker.objects.filter(
            pk=worker_id, state=WorkerState.LIVE.value, draining=not draining
        )
        if not rows.update(draining=draining):
            return False
        note(worker_id, DRAINED if draining else TAKEN_BACK, because=because, by=actor.name)
    return True


def note(worker_id: UUID, kind: str, *, because: str, by: str) -> None:
    """A worker belongs to no tenant; what is done to it stands in the chain of the default one."""
    worker = Worker.objects.get(pk=worker_id)
    tenant, _ = Tenant.objects.get_or_create(slug=tenants.DEFAULT, defaults={"name": "Default"})
    body = {
        "worker": str(worker_id),
        "host": worker.host,
        "pid": worker.pid,
        "because": because,
    }
    event = Draft(kind=kind, body=canonical.dumps(body))
    audit.append_to_tenant(tenant.pk, [event], now=db_now(), actor=by)


def _last_said(worker_id: UUID) -> str:
    events = AuditEvent.objects.filter(
        run=None, kind__in=[DRAINED, TAKEN_BACK], body__contains=str(worker_id)
    )
    return events.order_by("-seq").values_list("kind", flat=True).first() or ""
