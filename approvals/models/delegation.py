"""Somebody lets another person answer in their place, until a day that is named."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q


class Delegation(models.Model):
    """`group` is the one that is handed on; empty means each of the giver's.

    It ends at `until`, or before when somebody ends it.
    """

    tenant = models.ForeignKey("runs.Tenant", on_delete=models.PROTECT, db_index=False)
    giver = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="delegations_given"
    )
    receiver = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="delegations_received",
        db_index=False,
    )
    group = models.CharField(max_length=150, default="", blank=True)
    since = models.DateTimeField()
    until = models.DateTimeField()
    because = models.TextField(default="", blank=True)
    made_by = models.CharField(max_length=200)
    ended_at = models.DateTimeField(null=True)
    ended_by = models.CharField(max_length=200, default="", blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(until__gt=F("since")), name="delegation_ends_after_it_begins"
            ),
            models.CheckConstraint(
                condition=~Q(giver=F("receiver")), name="delegation_is_to_somebody_else"
            ),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True, ended_by="")
                | (Q(ended_at__isnull=False) & ~Q(ended_by="")),
                name="delegation_that_was_ended_says_by_whom",
            ),
        ]
        indexes = [
            models.Index(fields=["receiver", "until"], name="delegation_received"),
            models.Index(fields=["tenant", "-until"], name="delegation_of_tenant"),
        ]

    def __str__(self) -> str:
        return f"{self.giver_id} to {self.receiver_id} until {self.until:%Y-%m-%d}"
