"""Runs that a person has chosen together, what is done to each, and what became of it."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from runs.models.run import Run
from runs.models.tenant import Tenant
from runs.rules.together import MOST, Outcome, SelectionState, Together

VERBS = [verb.value for verb in Together]
STATES = [state.value for state in SelectionState]
OUTCOMES = ["", *(outcome.value for outcome in Outcome)]


class Selection(models.Model):
    """Frozen when it is made: which runs, found by which filter, by whom, when.

    `given` is what the verb needs beside the reason; `user` is whoever has it done.
    """

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False)
    verb = models.CharField(max_length=20)
    asked_for = models.TextField(default="", blank=True)
    amount = models.PositiveIntegerField()
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    by = models.CharField(max_length=200)
    at = models.DateTimeField()

    because = models.TextField(default="", blank=True)
    given = models.TextField(default="{}")
    state = models.CharField(max_length=20, default="chosen")
    begun_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    stopped_by = models.CharField(max_length=200, default="", blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(verb__in=VERBS), name="selection_verb_is_known"),
            models.CheckConstraint(condition=Q(state__in=STATES), name="selection_state_is_known"),
            models.CheckConstraint(
                condition=Q(state="chosen", begun_at__isnull=True)
                | (~Q(state="chosen") & Q(begun_at__isnull=False)),
                name="selection_has_begun_iff_it_says_when",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["chosen", "running"], ended_at__isnull=True)
                | Q(state__in=["done", "stopped"], ended_at__isnull=False),
                name="selection_has_ended_iff_it_says_when",
            ),
            models.CheckConstraint(
                condition=Q(amount__lte=MOST), name="selection_holds_at_most_500"
            ),
        ]
        indexes = [
            models.Index(fields=["id"], condition=Q(state="running"), name="selection_running"),
            models.Index(fields=["tenant", "-id"], name="selection_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.amount}"


class SelectionItem(models.Model):
    """One run of it: how it stood when it was chosen, and what became of it."""

    selection = models.ForeignKey(
        Selection, on_delete=models.CASCADE, related_name="items", db_index=False
    )
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+", db_index=False)
    seen = models.CharField(max_length=40)
    outcome = models.CharField(max_length=20, default="", blank=True)
    told = models.TextField(default="", blank=True)
    at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["selection", "run"], name="one_item_per_run_of_a_selection"
            ),
            models.CheckConstraint(
                condition=Q(outcome__in=OUTCOMES), name="selection_item_outcome_is_known"
            ),
            models.CheckConstraint(
                condition=Q(outcome="", at__isnull=True) | (~Q(outcome="") & Q(at__isnull=False)),
                name="selection_item_has_an_outcome_iff_it_says_when",
            ),
        ]
        indexes = [
            models.Index(fields=["selection"], condition=Q(outcome=""), name="selection_item_left")
        ]

    def __str__(self) -> str:
        return f"{self.run_id} {self.outcome or 'waits'}"
