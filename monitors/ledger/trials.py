"""A ping that a person sends in the name of what is watched, to see what becomes of it."""

from dataclasses import dataclass

from django.db import transaction

from monitors.ledger import monitors, pings
from monitors.models import Ping
from monitors.rules.received import Received
from monitors.rules.states import PingKind
from runs.ledger import audit
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.policy import Actor

AGENT_AT_MOST = 200
KINDS = (PingKind.SUCCESS, PingKind.START, PingKind.FAIL, PingKind.LOG)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """As which of its pings it was kept, as what it was taken, and why it changed nothing if so."""

    number: int
    kind: PingKind
    suspicious: str


@commits("monitor_committed")
def try_ping(actor: Actor, monitor_id: int, kind: PingKind, *, seen: int | None = None) -> Tried:
    """It counts as one from outside does: a success makes it up, a failure calls people.

    Raises NoSuchMonitor, MonitorChanged, MonitorIsOurs, NotAllowed.
    """
    with transaction.atomic():
        monitor, now = monitors.held(actor, monitor_id, seen=seen), db_now()
        monitors.require_not_ours(monitor)
        received = Received(
            code=monitor.code,
            kind=kind,
            method="POST",
            agent=f"a test by {actor.name}"[:AGENT_AT_MOST].replace("\x00", ""),
        )
        pings.receive(received)
        kept = Ping.objects.filter(monitor=monitor).latest("n")
        body = {"monitor": monitor.pk, "name": monitor.name, "kind": kind.value, "number": kept.n}
        told = Draft(kind="monitor.tried", body=canonical.dumps(body))
        audit.append_to_tenant(monitor.tenant_id, [told], now=now, actor=actor.name)
    return Tried(number=kept.n, kind=PingKind(kept.kind), suspicious=kept.suspicious)
