"""A receiver was asked once more, from the page of a decision, whether a call has happened."""

from django.db import models

from approvals.models.decision import Decision

OUTCOMES = ("found", "not found", "unknown")


class Asking(models.Model):
    """`said` is what came back, as canonical JSON text or as the error; kept for ever."""

    decision = models.ForeignKey(
        Decision, on_delete=models.PROTECT, related_name="askings", db_index=False
    )
    by = models.CharField(max_length=200)
    outcome = models.CharField(max_length=20)
    said = models.TextField(default="", blank=True)
    receiver_id = models.CharField(max_length=500, default="", blank=True)
    settled = models.BooleanField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(outcome__in=OUTCOMES), name="asking_outcome_is_known"
            )
        ]
        indexes = [models.Index(fields=["decision", "-id"], name="asking_newest")]

    def __str__(self) -> str:
        return self.outcome
