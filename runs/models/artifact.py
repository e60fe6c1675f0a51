"""What a step made that is too large for a fact: a file in Django's storage."""

from django.db import models

from runs.models.run import Run


class Artifact(models.Model):
    """`digest` is the SHA-256 of the stored bytes."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="artifacts", db_index=False)
    step = models.CharField(max_length=200)
    generation = models.PositiveIntegerField(default=1)
    name = models.CharField(max_length=200)
    media_type = models.CharField(max_length=100)
    path = models.CharField(max_length=500)
    size = models.PositiveBigIntegerField()
    digest = models.CharField(max_length=64)
    retention = models.CharField(max_length=40, default="run")
    fence = models.BigIntegerField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "step", "generation", "name"], name="one_artifact_per_name"
            )
        ]

    def __str__(self) -> str:
        return self.name
