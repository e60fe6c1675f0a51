"""What is over for long enough goes, and its tenant's chain says so."""

from collections import Counter
from datetime import datetime

from django.db import transaction

from runs.ledger import audit
from runs.ledger.commits import commits
from runs.models import Selection
from runs.queries.clock import db_now
from runs.queries.ended import Ended
from runs.queries.selections import never_begun
from runs.rules import canonical
from runs.rules.chain import Draft


@commits("cleaned_up")
def note(run: Ended, *, what: str, by: str) -> None:
    """Of what a run kept outside of the database; it is final, so its own chain is closed (R37)."""
    told = Draft(kind=f"{what}.cleared", body=canonical.dumps({"run": str(run.id)}))
    with transaction.atomic():
        audit.append_to_tenant(run.tenant_id, [told], now=db_now(), actor=by)


@commits("cleaned_up", when=bool)
def selections(before: datetime, at_most: int, by: str) -> int:
    """Those that were chosen before then and never begun, with the record of it."""
    with transaction.atomic():
        # Before the tenant, as in `begin`; one that somebody has begun just now is passed by.
        rows = never_begun(before).select_for_update(no_key=True, skip_locked=True)
        held = list(rows.only("pk", "tenant")[:at_most])
        Selection.objects.filter(pk__in=[each.pk for each in held]).delete()
        for tenant_id, amount in sorted(Counter(each.tenant_id for each in held).items()):
            record(tenant_id, "selections", amount, before=before, by=by)
    return len(held)


def record(tenant_id: int, what: str, amount: int, *, before: datetime, by: str) -> None:
    """In the caller's transaction, beside the removal (R37)."""
    body = canonical.dumps({"what": what, "amount": amount, "before": before.isoformat()})
    told = Draft(kind="cleanup.removed", body=body)
    audit.append_to_tenant(tenant_id, [told], now=db_now(), actor=by)
