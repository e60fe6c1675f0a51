"""A step of a run that is due or has begun: its attempts, its cursor and its facts."""

from django.db import models

from runs.models.run import Run
from runs.rules.states import StepState


class Step(models.Model):
    """`facts` is canonical JSON text; `scope` is the key scope that survives a rename (R4)."""

    # No constraint: the guard that compares the fence has seen the run (`there is no such run`).
    run = models.ForeignKey(
        Run, on_delete=models.PROTECT, related_name="steps", db_index=False, db_constraint=False
    )
    key = models.CharField(max_length=200)
    scope = models.CharField(max_length=200)
    ordinal = models.IntegerField()
    generation = models.IntegerField(default=1)
    superseded = models.BooleanField(default=False)
    state = models.CharField(max_length=20, default=StepState.PENDING.value)
    attempt = models.IntegerField(default=0)
    failures = models.IntegerField(default=0)
    crashes = models.IntegerField(default=0)
    fence = models.BigIntegerField()
    facts = models.TextField(default="{}")
    facts_digest = models.CharField(max_length=64, default="", blank=True)
    cursor_ordinal = models.BigIntegerField(default=0)
    cursor_token = models.TextField(default="", blank=True)
    progress_done = models.BigIntegerField(null=True)
    progress_total = models.BigIntegerField(null=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    error_class = models.CharField(max_length=200, default="", blank=True)
    error = models.TextField(default="", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "key", "generation"], name="one_result_per_step_and_generation"
            ),
            models.UniqueConstraint(
                fields=["run", "key"],
                condition=models.Q(superseded=False),
                name="one_current_result_per_step",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}/{self.key}"
