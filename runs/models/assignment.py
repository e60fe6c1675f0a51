"""This run, from step N, belongs to worker W."""

from django.db import models

from runs.models.run import Run
from runs.models.worker import Worker
from runs.rules.states import AssignmentState


class Assignment(models.Model):
    """`fence` is given at the claim; `reason` says why it was placed, `outcome` how it ended."""

    run = models.ForeignKey(
        Run, on_delete=models.PROTECT, related_name="assignments", db_index=False
    )
    from_step = models.CharField(max_length=200)
    state = models.CharField(max_length=20, default=AssignmentState.PLACED.value)
    reason = models.CharField(max_length=300)
    outcome = models.CharField(max_length=300, default="", blank=True)
    fence = models.BigIntegerField(null=True)
    worker = models.ForeignKey(
        Worker, on_delete=models.PROTECT, null=True, related_name="assignments", db_index=False
    )
    placed_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=[state.value for state in AssignmentState]),
                name="assignment_state_is_known",
            ),
            models.UniqueConstraint(
                fields=["run"],
                condition=models.Q(
                    state__in=[AssignmentState.CLAIMED.value, AssignmentState.PLACED.value]
                ),
                name="one_open_assignment_per_run",
            ),
            models.UniqueConstraint(
                fields=["run", "fence"],
                condition=models.Q(fence__isnull=False),
                name="one_assignment_per_fence",
            ),
        ]
        indexes = [
            models.Index(
                fields=["placed_at", "id"],
                condition=models.Q(state=AssignmentState.PLACED.value),
                name="assignment_to_claim",
            ),
            models.Index(
                fields=["worker"],
                condition=models.Q(state=AssignmentState.CLAIMED.value),
                name="assignment_in_hands",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id} from {self.from_step}"
