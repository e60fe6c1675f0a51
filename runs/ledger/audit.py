"""Append facts to the hash chain of a run or of a tenant."""

from collections.abc import Sequence
from datetime import datetime

from runs.models import AuditEvent, Run, Tenant
from runs.rules.chain import Draft, link, new_salt, payload_digest


def append(run: Run, drafts: Sequence[Draft], *, now: datetime, fence: int = 0, actor: str) -> None:
    """Add `drafts` to the chain of a locked run; the caller writes `run.seq` and `run.head`.

    The run row is written last, because a final one refuses even its own last events (R20).
    """
    insert(linked(run, drafts, now=now, fence=fence, actor=actor))


def linked(
    run: Run, drafts: Sequence[Draft], *, now: datetime, fence: int, actor: str
) -> list[AuditEvent]:
    """The events of `drafts`, chained to the run's head, which moves on; not stored yet."""
    return [_linked(run, run, draft, now=now, fence=fence, actor=actor) for draft in drafts]


def insert(events: list[AuditEvent]) -> None:
    """Store events that `linked` has made."""
    AuditEvent.objects.bulk_create(events)


def append_to_tenant(tenant_id: int, drafts: Sequence[Draft], *, now: datetime, actor: str) -> None:
    """Add what happens after a run's end to its tenant's chain (R37)."""
    tenant = Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
    AuditEvent.objects.bulk_create(
        [_linked(tenant, None, draft, now=now, fence=0, actor=actor) for draft in drafts]
    )
    Tenant.objects.filter(pk=tenant_id).update(seq=tenant.seq, head=tenant.head)


def _linked(
    chain: Run | Tenant, run: Run | None, draft: Draft, *, now: datetime, fence: int, actor: str
) -> AuditEvent:
    salt = new_salt()
    digest = payload_digest(salt=salt, body=draft.body)
    chain.seq += 1
    prev, chain.head = (
        chain.head,
        link(
            prev=chain.head,
            seq=chain.seq,
            at=now,
            kind=draft.kind,
            step=draft.step,
            fence=fence,
            actor=actor,
            payload=digest,
        ),
    )
    return AuditEvent(
        tenant_id=chain.tenant_id if isinstance(chain, Run) else chain.pk,
        run=run,
        seq=chain.seq,
        kind=draft.kind,
        step=draft.step,
        fence=fence,
        actor=actor,
        at=now,
        body=draft.body,
        salt=salt,
        payload_digest=digest,
        prev=prev,
        hash=chain.head,
    )
