"""What a run kept outside of the database goes, and its tenant's chain says so."""

from django.db import transaction

from runs.ledger import audit
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.queries.ended import Ended
from runs.rules import canonical
from runs.rules.chain import Draft


@commits("cleaned_up")
def note(run: Ended, *, what: str, by: str) -> None:
    """The run is final, so its own chain is closed (R37)."""
    told = Draft(kind=f"{what}.cleared", body=canonical.dumps({"run": str(run.id)}))
    with transaction.atomic():
        audit.append_to_tenant(run.tenant_id, [told], now=db_now(), actor=by)
