"""That nobody could see: from when until when, told once, and deadlines count anew from its end (R25)."""

from datetime import datetime

from django.db import transaction

from monitors.ledger import alerts, judging
from monitors.models import Blindness
from monitors.queries.watching import Seen
from monitors.rules import sayings
from monitors.rules.incidents import Severity, Trouble
from monitors.rules.states import Verdict
from monitors.rules.verdicts import TOLD_FROM, Judged
from runs.ledger import tenants
from runs.ledger.commits import commits
from runs.ledger.telling import tell

SUBJECT = "blind"
LINK = "/monitors/"


@commits("blindness_committed", when=bool)
def begin(watch: Seen, *, since: datetime, because: str, now: datetime) -> bool:
    """From now on nobody is judged silent; one alert says so, once for all that is watched."""
    said = sayings.blind(since=since, until=None, because=because)
    with transaction.atomic():
        # The monitor's row before the tenant's, as in every change of a verdict.
        said_so = _say(watch, Verdict.BLIND, said, since=since, now=now)
        tenants.hold(watch.tenant_id)
        if not said_so or Blindness.objects.filter(open=True).exists():
            transaction.set_rollback(True)
            return False
        Blindness.objects.create(from_at=since, because=because)
        alerts.raise_alert(
            Trouble(
                tenant_id=watch.tenant_id,
                subject=SUBJECT,
                sentence=said.sentence,
                severity=Severity.CRITICAL,
                link=LINK,
                kind="blind",
            )
        )
    return True


@commits("blindness_committed", when=bool)
def end(watch: Seen, *, now: datetime) -> bool:
    """Pings come through again; what came due meanwhile is due a whole period from now."""
    with transaction.atomic():
        row = Blindness.objects.filter(open=True).first()
        if row is None:
            return False
        said = sayings.blind(since=row.from_at, until=now, because=row.because)
        _say(watch, Verdict.ALIVE, said, since=row.from_at, now=now)
        tenants.hold(watch.tenant_id)
        ended = Blindness.objects.filter(pk=row.pk, open=True).update(open=False, until_at=now)
        if not ended:
            transaction.set_rollback(True)
            return False
        alerts.close_alert(tenant_id=watch.tenant_id, subject=SUBJECT, because=said.sentence)
    return True


@commits("blindness_committed", when=bool)
def was(
    *, tenant_id: int, watch: Seen | None, since: datetime, because: str, now: datetime
) -> bool:
    """Nobody judged from then until now; people hear of it once, if it was long enough.

    Of two watches that come back together the second finds that it is written down.
    """
    said = sayings.blind(since=since, until=now, because=because)
    told = now - since >= TOLD_FROM
    with transaction.atomic():
        if told and watch is not None:
            _say(watch, Verdict.BLIND, said, since=since, now=now)
        tenants.hold(tenant_id)
        if Blindness.objects.filter(until_at__gt=since).exists():
            transaction.set_rollback(True)
            return False
        Blindness.objects.create(from_at=since, until_at=now, open=False, because=because)
        if not told:
            return True
        tell(
            tenant_id=tenant_id,
            run_id=None,
            kind="blind",
            title=said.sentence,
            link=LINK,
            dedup_key=f"blind:{since.isoformat()}",
            severity="warning",
        )
    return True


def _say(
    watch: Seen, verdict: Verdict, said: sayings.Said, *, since: datetime, now: datetime
) -> bool:
    """The watch's own monitor shows it; whether no ping came first."""
    made = judging.write(
        watch,
        judging.Verdicts(
            judged=Judged(verdict=verdict, since=since), said=said, facts="{}", look_at=None
        ),
        now=now,
    )
    return made is not None
