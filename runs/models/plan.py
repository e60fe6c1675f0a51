"""The plan of a workflow version as data, readable when its code is gone."""

from django.db import models


class Plan(models.Model):
    """`body` is canonical JSON text (RFC 8785), hashed as text; the hash is the key."""

    hash = models.CharField(max_length=64, primary_key=True)
    workflow = models.CharField(max_length=100)
    version = models.PositiveIntegerField()
    body = models.TextField()
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workflow", "version"], name="one_plan_per_version")
        ]

    def __str__(self) -> str:
        return f"{self.workflow} v{self.version}"
