"""What a rehearsal of failure found about a workflow's plan, as it was on that day."""

from uuid import UUID

import uuid6
from django.db import models

from runs.models.tenant import Tenant
from runs.rules.drill_report import DrillState


def new_drill_id() -> UUID:
    """A UUIDv7; only an identifier, never a clock (R38)."""
    return UUID(int=uuid6.uuid7().int)


class Drill(models.Model):
    """No foreign key to the plan: a workflow may be drilled before its first run is started."""

    id = models.UUIDField(primary_key=True, default=new_drill_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False)
    workflow = models.CharField(max_length=100)
    version = models.PositiveIntegerField()
    plan_hash = models.CharField(max_length=64)
    state = models.CharField(max_length=20)
    started_by = models.CharField(max_length=200)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    sentence = models.TextField()
    report = models.TextField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=[state.value for state in DrillState]),
                name="drill_state_is_known",
            )
        ]
        indexes = [
            models.Index(fields=["tenant", "-started_at", "-id"], name="drill_newest"),
            models.Index(fields=["workflow", "plan_hash", "-started_at"], name="drill_of_a_plan"),
        ]

    def __str__(self) -> str:
        return f"{self.workflow} v{self.version}: {self.state}"


class DrillUnderWay(models.Model):
    """One that has no report yet, under the id that its report will have; at most one from a page."""

    id = models.UUIDField(primary_key=True, default=new_drill_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False)
    workflow = models.CharField(max_length=100)
    command = models.CharField(max_length=500)
    from_page = models.BooleanField(default=False)
    started_by = models.CharField(max_length=200)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    stopped_by = models.CharField(max_length=200, default="", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["from_page"],
                condition=models.Q(from_page=True),
                name="one_drill_from_a_page_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.workflow}, since {self.started_at}"
