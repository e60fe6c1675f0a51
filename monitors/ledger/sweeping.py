"""What the tables of runs show as wrong becomes an incident, and ends with it."""

from collections.abc import Sequence

from django.db import transaction

from monitors.ledger.alerts import close_alert, raise_alert
from monitors.models import Alert
from monitors.rules.incidents import SWEPT, Severity, Trouble
from runs.ledger.commits import commits
from runs.queries import troubles


def sweep() -> int:
    """Raise what is new, close what is well again; how many changed."""
    found = {each.subject: each for each in troubles.found()}
    open_ = {
        subject: tenant
        for kind in SWEPT
        for subject, tenant in Alert.objects.filter(
            closed_at=None, subject__startswith=f"{kind}:"
        ).values_list("subject", "tenant_id")
    }
    new = [each for subject, each in found.items() if subject not in open_]
    over = [(tenant, subject) for subject, tenant in open_.items() if subject not in found]
    return sum(_raise(each) for each in new) + _close(over)


@commits("alert_committed")
def _raise(found: troubles.Found) -> int:
    trouble = Trouble(
        tenant_id=found.tenant_id,
        subject=found.subject,
        sentence=found.sentence,
        severity=Severity.WARNING,
        link=found.link,
        causes=(found.cause,) if found.cause else (),
        workflow=found.workflow,
        kind=found.kind,
        # A dead channel is told of through another one, by whoever found it dead.
        quietly=found.kind == "channel",
    )
    with transaction.atomic():
        raise_alert(trouble)
    return 1


def _close(over: Sequence[tuple[int, str]]) -> int:
    return sum(_close_one(tenant, subject) for tenant, subject in over)


@commits("alert_closed", when=bool)
def _close_one(tenant: int, subject: str) -> bool:
    with transaction.atomic():
        return close_alert(tenant_id=tenant, subject=subject, because="It is well again.")
