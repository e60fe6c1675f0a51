"""A milepost: an immutable, numbered snapshot of how far a run has come."""

from django.db import models

from runs.models.run import Run


class Checkpoint(models.Model):
    """Digests and counts only, never copies of facts or key lists (R39)."""

    # No constraint: the guard that compares the fence has seen the run (`there is no such run`).
    run = models.ForeignKey(
        Run,
        on_delete=models.PROTECT,
        related_name="checkpoints",
        db_index=False,
        db_constraint=False,
    )
    number = models.IntegerField()
    step = models.CharField(max_length=200)
    generation = models.IntegerField(default=1)
    finished = models.BooleanField()
    cursor_ordinal = models.BigIntegerField(default=0)
    cursor_token = models.TextField(default="", blank=True)
    plan_hash = models.CharField(max_length=64)
    version = models.IntegerField()
    schema = models.SmallIntegerField()
    fence = models.BigIntegerField()
    keys_count = models.IntegerField(default=0)
    keys_digest = models.CharField(max_length=64, default="", blank=True)
    awaiting = models.CharField(max_length=300, default="", blank=True)
    output_digest = models.CharField(max_length=64, default="", blank=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="one_checkpoint_per_number")
        ]

    def __str__(self) -> str:
        return f"{self.run_id} #{self.number}"
