"""The record of a replay: only with one does a new generation of a run's steps begin (I1)."""

from django.db import models

from runs.models.run import Run
from runs.models.tenant import Tenant


class Replay(models.Model):
    """`ordinal` is the first step of the generation, `checkpoint` the one it begins behind."""

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="replays", db_index=False)
    generation = models.PositiveIntegerField()
    checkpoint = models.PositiveIntegerField()
    step = models.CharField(max_length=200)
    ordinal = models.PositiveIntegerField()
    cursor_ordinal = models.BigIntegerField(default=0)
    forgets_judgements = models.BooleanField(default=False)
    by = models.CharField(max_length=200)
    because = models.TextField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "generation"], name="one_replay_per_generation"),
            models.CheckConstraint(
                condition=models.Q(generation__gt=1), name="replay_begins_a_later_generation"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id} generation {self.generation} from {self.step}"
