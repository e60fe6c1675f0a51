"""What a model decided, kept with the hash of everything it was asked with (R12)."""

from django.db import models

from runs.models.run import Run


class Judgement(models.Model):
    """Found again by its input hash, so that nothing is judged twice in a run."""

    run = models.ForeignKey(
        Run, on_delete=models.PROTECT, related_name="judgements", db_index=False
    )
    step = models.CharField(max_length=200)
    scope = models.CharField(max_length=200)
    generation = models.PositiveIntegerField(default=1)
    input_hash = models.CharField(max_length=64)
    question = models.CharField(max_length=500)
    by = models.CharField(max_length=200)
    answer = models.TextField()
    cost = models.TextField(default="{}")
    fence = models.BigIntegerField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "scope", "generation", "input_hash"],
                name="one_judgement_per_input",
            )
        ]

    def __str__(self) -> str:
        return f"{self.by}: {self.input_hash[:12]}"
