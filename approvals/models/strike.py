"""A single call that was struck off a list before it was approved, or put back."""

from django.db import models

from approvals.models.decision import Decision


class Strike(models.Model):
    """`seq` is the decision's number at the last change, so that a page can say what is new."""

    decision = models.ForeignKey(
        Decision, on_delete=models.CASCADE, related_name="strikes", db_index=False
    )
    ordinal = models.PositiveIntegerField()
    struck = models.BooleanField()
    by = models.CharField(max_length=200)
    at = models.DateTimeField()
    seq = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["decision", "ordinal"], name="one_strike_per_call_of_a_decision"
            )
        ]

    def __str__(self) -> str:
        return f"{self.ordinal} {'struck off' if self.struck else 'put back'}"
