"""What a start has to know before it writes: one question instead of two, on a path that is counted."""

from dataclasses import dataclass

from runs.queries.prepared import prepared_cursor

LOOK = """SELECT tenant.id, plan.hash FROM (SELECT 1) AS one
    LEFT JOIN runs_tenant tenant ON tenant.slug = %s
    LEFT JOIN runs_plan plan ON plan.workflow = %s AND plan.version = %s"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """None where there is no such tenant, or no run was ever started with this version."""

    tenant_id: int | None
    plan_hash: str | None


def standing(*, tenant: str, workflow: str, version: int) -> Standing:
    """The tenant of this name, and the hash of the plan that this version was started with."""
    with prepared_cursor() as cursor:
        cursor.execute(LOOK, [tenant, workflow, version])
        tenant_id, plan_hash = cursor.fetchone()
    return Standing(tenant_id=tenant_id, plan_hash=plan_hash)
