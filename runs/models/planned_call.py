"""A call that a step has planned and not made: a row of what a person will be asked."""

from django.db import models

from runs.models.run import Run


class PlannedCall(models.Model):
    """`digest` covers effect, its fingerprint, resource, request and evidence of this row."""

    run = models.ForeignKey(
        Run, on_delete=models.PROTECT, related_name="planned_calls", db_index=False
    )
    step = models.CharField(max_length=200)
    generation = models.PositiveIntegerField(default=1)
    plan = models.CharField(max_length=200)
    ordinal = models.PositiveIntegerField()
    effect = models.CharField(max_length=200)
    resource = models.CharField(max_length=500)
    request = models.TextField()
    request_digest = models.CharField(max_length=64)
    evidence = models.TextField()
    digest = models.CharField(max_length=64)
    fence = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "generation", "plan", "ordinal"], name="one_planned_call_per_place"
            ),
            models.UniqueConstraint(
                fields=["run", "generation", "plan", "effect", "resource"],
                name="one_planned_call_per_resource",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.plan}/{self.ordinal} {self.effect} {self.resource}"
