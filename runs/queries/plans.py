"""Which plans are stored, and what they say."""

from functools import lru_cache

from runs.models import Plan as StoredPlan
from runs.rules.plan import Plan


def stored_hash(name: str, version: int) -> str | None:
    """The plan hash that runs of this version were started with, if any were."""
    return (
        StoredPlan.objects.filter(workflow=name, version=version)
        .values_list("hash", flat=True)
        .first()
    )


@lru_cache(maxsize=256)
def plan_by_hash(plan_hash: str) -> Plan:
    """The plan a run was started with; readable when its code is gone. Plans never change."""
    return Plan.from_text(StoredPlan.objects.get(pk=plan_hash).body)


def stored_workflows() -> list[str]:
    """Names for menus: from this small table, never from the runs."""
    return list(
        StoredPlan.objects.order_by("workflow").values_list("workflow", flat=True).distinct()
    )
