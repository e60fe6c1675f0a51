"""What a person is asked, frozen as it was opened, and how it ended."""

from django.db import models

from approvals.rules.states import ANSWERS
from runs.rules.states import DecisionState

DECIDED = sorted(state.value for state in ANSWERS)
OPEN = DecisionState.OPEN.value


class Decision(models.Model):
    """`ask` is canonical JSON text; `digest` is what an answer would bind now.

    For a list `digest` and `count` are those of what has not been struck off. `urgent_at` puts a
    list in order: what the clock will close comes first, then what has waited longest. `seq`
    rises with every change, so that a page knows whether it is still true. An answer that takes
    effect later stands in `deferred_option` until then. `rule` is the one that answers, or has.
    """

    tenant = models.ForeignKey("runs.Tenant", on_delete=models.PROTECT, db_index=False)
    run = models.ForeignKey("runs.Run", on_delete=models.PROTECT, related_name="decisions")
    wait = models.OneToOneField("runs.Wait", on_delete=models.PROTECT, related_name="decision")
    workflow = models.CharField(max_length=100)
    step = models.CharField(max_length=200)
    generation = models.PositiveIntegerField(default=1)
    kind = models.CharField(max_length=40)
    question = models.TextField()
    ask = models.TextField()
    ask_digest = models.CharField(max_length=64)
    irreversible = models.BooleanField()
    digest = models.CharField(max_length=64)
    count = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=20, default=OPEN)
    seq = models.PositiveIntegerField(default=1)
    opened_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    on_expiry = models.CharField(max_length=20, default="stay")
    urgent_at = models.DateTimeField()

    shape = models.CharField(max_length=64, default="", blank=True)
    rule = models.ForeignKey(
        "approvals.RuleVersion", on_delete=models.PROTECT, null=True, related_name="decisions"
    )
    deferred_option = models.CharField(max_length=200, default="", blank=True)
    takes_effect_at = models.DateTimeField(null=True)

    option = models.CharField(max_length=200, default="", blank=True)
    approved_digest = models.CharField(max_length=64, default="", blank=True)
    closed_at = models.DateTimeField(null=True)
    closed_by = models.CharField(max_length=200, default="", blank=True)
    because = models.TextField(default="", blank=True)

    class Meta:
        permissions = [("decide", "May answer decisions")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=[state.value for state in DecisionState]),
                name="decision_state_is_known",
            ),
            models.CheckConstraint(
                condition=models.Q(state=OPEN, closed_at__isnull=True)
                | (~models.Q(state=OPEN) & models.Q(closed_at__isnull=False)),
                name="decision_is_closed_iff_it_says_when",
            ),
            models.CheckConstraint(
                condition=(
                    models.Q(state__in=DECIDED) & ~models.Q(option="") & ~models.Q(closed_by="")
                )
                | (~models.Q(state__in=DECIDED) & models.Q(option="")),
                name="decision_is_answered_iff_it_names_option_and_person",
            ),
            models.CheckConstraint(
                condition=~models.Q(state=DecisionState.APPROVED.value)
                | ~models.Q(approved_digest=""),
                name="approved_decision_names_the_digest_it_approved",
            ),
            models.CheckConstraint(
                condition=models.Q(rule__isnull=True) | models.Q(irreversible=False),
                name="no_rule_answers_what_cannot_be_undone",
            ),
            models.CheckConstraint(
                condition=~models.Q(state__in=DECIDED) | ~models.Q(closed_by="the clock"),
                name="silence_answers_no_decision",
            ),
            models.CheckConstraint(
                condition=models.Q(on_expiry__in=["stay", "cancel", "fail"]),
                name="decision_ends_unanswered_in_a_known_way",
            ),
            models.CheckConstraint(
                condition=models.Q(takes_effect_at__isnull=True, deferred_option="")
                | (models.Q(takes_effect_at__isnull=False) & ~models.Q(deferred_option="")),
                name="deferred_answer_says_what_and_when",
            ),
            models.UniqueConstraint(
                fields=["run"], condition=models.Q(state=OPEN), name="one_open_decision_per_run"
            ),
        ]
        indexes = [
            models.Index(
                fields=["urgent_at", "id"], condition=models.Q(state=OPEN), name="decision_open"
            ),
            models.Index(
                fields=["shape"],
                condition=models.Q(state=OPEN) & ~models.Q(shape=""),
                name="decision_shape_open",
            ),
            models.Index(
                fields=["-closed_at", "-id"],
                condition=models.Q(closed_at__isnull=False),
                name="decision_closed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pk} {self.kind} {self.state}"
