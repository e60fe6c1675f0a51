"""Whether the database itself is as it should be: its guards, and the plans it keeps (R20, I9)."""

from collections.abc import Iterator

from django.db import connection
from django.db.models import Exists, OuterRef

from runs.models import AuditEvent, Checkpoint, Run, Step
from runs.models import Plan as StoredPlan
from runs.queries.guards import missing_guards
from runs.rules.plan import Plan
from runs.rules.violations import Violation


def guards_are_there() -> Iterator[Violation]:
    for name in missing_guards(connection):
        text = f"The guard {name} is missing; `manage.py migrate` makes it again."
        yield Violation(invariant="R20", run="", text=text)


def rows_have_their_runs() -> Iterator[Violation]:
    """What no foreign key holds: each step, checkpoint and event of a run is of one that is there."""
    for model in (Step, Checkpoint, AuditEvent):
        lost = model.objects.filter(~Exists(Run.objects.filter(pk=OuterRef("run_id"))))
        found = lost.exclude(run__isnull=True).order_by("pk").values_list("pk", "run_id").first()
        if found is not None:
            what = model._meta.verbose_name
            text = f"There is a {what} ({found[0]}) of a run that is not there."
            yield Violation(invariant="I12", run=str(found[1]), text=text)


def plans_are_kept() -> Iterator[Violation]:
    """The body of each stored plan is the one that its hash covers."""
    for stored in StoredPlan.objects.order_by("workflow", "version").iterator(chunk_size=50):
        named = (stored.workflow, stored.version, stored.hash)
        plan = _read(stored)
        if plan is None or (plan.name, plan.version, plan.covered_hash()) != named:
            text = f"The plan of {stored.workflow} version {stored.version} is not what its hash covers."
            yield Violation(invariant="I9", run="", text=text)


def _read(stored: StoredPlan) -> Plan | None:
    try:
        return Plan.from_text(stored.body)
    except (ValueError, KeyError, TypeError):
        return None
