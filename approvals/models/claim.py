"""Who reads a decision at present, so that nobody else does the same; it binds nobody and ends by itself."""

from django.conf import settings
from django.db import models

from approvals.models.decision import Decision


class Claim(models.Model):
    """Over at `until`, or earlier at `ended_at`: released, taken over once it was over, handed over."""

    decision = models.ForeignKey(
        Decision, on_delete=models.CASCADE, related_name="claims", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    by = models.CharField(max_length=200)
    at = models.DateTimeField()
    until = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["decision"],
                condition=models.Q(ended_at__isnull=True),
                name="one_claim_at_a_time",
            ),
            models.CheckConstraint(
                condition=models.Q(until__gt=models.F("at")), name="claim_ends_after_it_began"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.by} until {self.until}"
