"""Keep the plan a run is started with."""

from datetime import datetime

from runs.models import Plan as StoredPlan
from runs.rules.plan import Plan


class PlanChanged(Exception):
    """The same workflow version has another plan now; give the changed one a new version."""


def keep(plan: Plan, *, now: datetime) -> str:
    """Store this plan unless it is there; the hash that runs refer to."""
    stored, _ = StoredPlan.objects.get_or_create(
        workflow=plan.name,
        version=plan.version,
        defaults={"hash": plan.hash, "body": plan.to_text(), "seen_at": now},
    )
    if stored.hash != plan.hash:
        raise PlanChanged(
            f"Workflow {plan.name} version {plan.version} was started before with another plan "
            f"({stored.hash[:12]}…, now {plan.hash[:12]}…). A changed plan needs a new version: "
            f"set `version = {plan.version + 1}`."
        )
    return plan.hash
