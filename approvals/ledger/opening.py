"""A run asks a person: the decision is opened, and told to those who may answer."""

from datetime import timedelta

from approvals.models import Audience, Decision
from approvals.queries.people import deciders
from approvals.rules.asked import asked_of, digest_of
from runs.definition.gates import OpenedWait
from runs.ledger.telling import tell
from runs.queries.clock import db_now
from runs.rules import canonical

# What no clock will close stands behind all that one will, and there in order of its age.
NO_DEADLINE = timedelta(days=36_500)


def open_decision(opened: OpenedWait) -> None:
    """Keep what is asked as it is now; the caller owns the transaction and holds the run."""
    text, now = canonical.dumps(opened.asks), db_now()
    asked = asked_of(text)
    closes = opened.expires_at if opened.on_due != "stay" else None
    decision = Decision.objects.create(
        tenant_id=opened.tenant_id,
        run_id=opened.run_id,
        wait_id=opened.wait_id,
        workflow=opened.workflow,
        step=opened.step,
        generation=opened.generation,
        kind=asked.kind,
        question=asked.question,
        ask=text,
        ask_digest=canonical.digest(text),
        irreversible=asked.irreversible,
        digest=digest_of(text),
        count=asked.plan.count if asked.plan else 0,
        opened_at=now,
        expires_at=opened.expires_at,
        on_expiry=opened.on_due,
        urgent_at=closes or now + NO_DEADLINE,
    )
    Audience.objects.bulk_create(
        [Audience(decision=decision, group=name) for name in sorted(set(asked.groups))]
    )
    _tell(decision, groups=asked.groups)


def _tell(decision: Decision, *, groups: tuple[str, ...]) -> None:
    """Title and link only: what is asked about stays on the page, behind the sign-in."""
    may_answer = deciders(tenant_id=decision.tenant_id, groups=groups)
    tell(
        tenant_id=decision.tenant_id,
        run_id=decision.run_id,
        kind="decision.opened",
        title=f"{decision.workflow} waits for a decision before {decision.step} goes on",
        link=f"/decisions/{decision.pk}/",
        dedup_key=f"decision.opened:{decision.wait_id}",
        workflow=decision.workflow,
        users=list(may_answer.values_list("pk", flat=True)[:50]),
    )
