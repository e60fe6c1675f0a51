"""Keep the plan a run is started with."""

from runs.models import Plan as StoredPlan
from runs.queries.clock import db_now
from runs.queries.plans import stored_hash
from runs.rules.plan import Plan


class PlanChanged(Exception):
    """The same workflow version has another plan now; give the changed one a new version."""


def keep(plan: Plan) -> str:
    """Store this plan unless it is there; the hash that runs refer to."""
    return keep_as(plan, stored=stored_hash(plan.name, plan.version))


def keep_as(plan: Plan, *, stored: str | None) -> str:
    """The same, where what is stored was looked up already."""
    if stored is None:
        stored = _store(plan)
    if stored != plan.hash:
        raise PlanChanged(
            f"Workflow {plan.name} version {plan.version} was started before with another plan "
            f"({stored[:12]}…, now {plan.hash[:12]}…). A changed plan needs a new version: "
            f"set `version = {plan.version + 1}`."
        )
    return plan.hash


def _store(plan: Plan) -> str:
    # Another process may be starting the first run of this version at the same moment.
    stored, _ = StoredPlan.objects.get_or_create(
        workflow=plan.name,
        version=plan.version,
        defaults={"hash": plan.hash, "body": plan.to_text(), "seen_at": db_now()},
    )
    return stored.hash
