"""Decisions of one shape that a person answers together, each bound to its own digest."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from approvals.models.decision import Decision

STATES = ("running", "done", "stopped")
OUTCOMES = ("", "answered", "passed", "refused")


class Batch(models.Model):
    """The selection is frozen: which decisions, with which digests, answered how, since when."""

    tenant = models.ForeignKey("runs.Tenant", on_delete=models.PROTECT, db_index=False)
    shape = models.CharField(max_length=64)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    by = models.CharField(max_length=200)
    address = models.GenericIPAddressField(null=True)
    option = models.CharField(max_length=200)
    fields = models.TextField(default="{}")
    comment = models.TextField(default="", blank=True)
    state = models.CharField(max_length=20, default="running")
    stopped_by = models.CharField(max_length=200, default="", blank=True)
    amount = models.PositiveIntegerField()
    at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=STATES), name="batch_state_is_known"),
            models.CheckConstraint(
                condition=Q(state="running", ended_at__isnull=True)
                | (~Q(state="running") & Q(ended_at__isnull=False)),
                name="batch_has_ended_iff_it_says_when",
            ),
            models.CheckConstraint(condition=Q(amount__lte=500), name="batch_holds_at_most_500"),
        ]
        indexes = [models.Index(fields=["id"], condition=Q(state="running"), name="batch_running")]

    def __str__(self) -> str:
        return f"{self.amount} {self.option}"


class BatchItem(models.Model):
    """One decision of it: the digest that was shown, and what became of it."""

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="items", db_index=False)
    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="+")
    digest = models.CharField(max_length=64)
    outcome = models.CharField(max_length=20, default="", blank=True)
    told = models.TextField(default="", blank=True)
    at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["batch", "decision"], name="one_item_per_decision_of_a_batch"
            ),
            models.CheckConstraint(
                condition=Q(outcome__in=OUTCOMES), name="batch_item_outcome_is_known"
            ),
        ]
        indexes = [models.Index(fields=["batch"], condition=Q(outcome=""), name="batch_item_left")]

    def __str__(self) -> str:
        return f"{self.decision_id} {self.outcome or 'waits'}"
