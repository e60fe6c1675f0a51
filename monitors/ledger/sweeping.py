"""What the tables of runs show as wrong becomes an incident, and ends with it."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Concat

from monitors.ledger.alerts import close_alert, raise_alert
from monitors.models import Alert
from monitors.rules.incidents import LONGEST_SNOOZE, RESOLVED_BY, SWEPT, Severity, Trouble
from runs.ledger.commits import commits
from runs.queries import troubles
from runs.queries.clock import db_now


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
    settled = _settled()
    new = [each for subject, each in found.items() if subject not in open_ | settled]
    over = [(tenant, subject) for subject, tenant in open_.items() if subject not in found]
    for subject in settled.keys() - found.keys():
        _forget(subject, tenant=settled[subject])
    return sum(_raise(each) for each in new) + _close(over)


def _settled() -> dict[str, int]:
    """What a person called over though it is still wrong: told again when it was well in between."""
    lately = Alert.objects.filter(
        closed_at__gte=db_now() - LONGEST_SNOOZE, closed_because__startswith=RESOLVED_BY
    )
    known = dict(lately.values_list("subject", "tenant_id"))
    return {
        subject: tenant for subject, tenant in known.items() if subject.partition(":")[0] in SWEPT
    }


@commits("alert_closed", when=bool)
def _forget(subject: str, *, tenant: int) -> int:
    """It is well again by itself: the next time it is news."""
    rows = Alert.objects.filter(tenant_id=tenant, subject=subject)
    return rows.filter(closed_because__startswith=RESOLVED_BY).update(
        closed_because=Concat(Value("was "), "closed_because")
    )


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
