"""What was known of a workflow's plan on the day somebody asked the ten questions."""

from django.db import models

from runs.models.tenant import Tenant


class Certificate(models.Model):
    """`body` is canonical JSON text. Never changed: a new one is made, and a changed plan voids it."""

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False)
    workflow = models.CharField(max_length=100)
    version = models.PositiveIntegerField()
    plan_hash = models.CharField(max_length=64)
    passed = models.PositiveSmallIntegerField()
    asked = models.PositiveSmallIntegerField()
    made_by = models.CharField(max_length=200)
    made_at = models.DateTimeField()
    body = models.TextField()

    class Meta:
        indexes = [
            models.Index(
                fields=["workflow", "version", "-made_at", "-id"], name="certificate_newest"
            )
        ]

    def __str__(self) -> str:
        return f"{self.workflow} v{self.version}: {self.passed} of {self.asked}"
