"""A monitor that its own first ping makes, because the address said `create=1`."""

from uuid import uuid4

from django.db import transaction

from monitors.conf import monitors_per_key
from monitors.models import Monitor, PingKey
from monitors.rules.monitors import PROVIDED_GRACE, PROVIDED_PERIOD
from monitors.rules.received import Received
from runs.ledger import audit
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.chain import Draft


class TooManyProvided(Exception):
    """Pings of this key have made as many monitors as one key may; the text says so to the sender."""


@commits("monitor_provided", when=bool)
def provide(received: Received, *, tenant_id: int) -> bool:
    """Make the monitor of this slug, unless another ping has just made it. Raises TooManyProvided."""
    with transaction.atomic():
        now = db_now()
        # The key's row is the meeting place: of two first pings at once, one makes the monitor.
        key = PingKey.objects.select_for_update().filter(digest=received.key_digest).get()
        there = Monitor.objects.filter(tenant_id=tenant_id, slug=received.slug, removed_at=None)
        if there.exists():
            return False
        by = f"ping key {key.hint}…"
        _require_room(tenant_id, by=by)
        made = Monitor.objects.create(
            tenant_id=tenant_id,
            code=uuid4(),
            slug=received.slug,
            name=received.slug,
            period=PROVIDED_PERIOD,
            grace=PROVIDED_GRACE,
            state_since=now,
            created_by=by,
            created_at=now,
            updated_at=now,
        )
        # The number, not the code: whoever reads the audit need not be able to ping.
        body = {"monitor": made.pk, "slug": made.slug, "key": key.hint}
        told = Draft(kind="monitor.provided", body=canonical.dumps(body))
        audit.append_to_tenant(tenant_id, [told], now=now, actor=made.created_by)
    return True


def _require_room(tenant_id: int, *, by: str) -> None:
    """Those that somebody removed count no more."""
    most = monitors_per_key()
    made = Monitor.objects.filter(tenant_id=tenant_id, created_by=by, removed_at=None)
    if made.count() >= most:
        raise TooManyProvided(
            f"monitor limit reached: pings of this key may make {most} (PING_KEY_MONITORS); "
            "no monitor was made and this ping was not kept; those there are go on"
        )
