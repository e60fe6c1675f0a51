"""One call of an effect under its idempotency key: what was sent, and what is known of it."""

from django.db import models

from runs.models.run import Run
from runs.rules.states import UNSETTLED_CALLS, CallState


class Call(models.Model):
    """`unsent` says that nothing left the house in the last attempt (R7: `NotSent`).

    `authority` names what allows an irreversible call: `decision:<wait>` or `waiver:<reason>`.
    `undoes` names the call that this one compensates.
    `checkpoint` is the number of the checkpoint that accepted the call, empty until then.
    """

    key = models.CharField(max_length=80, unique=True)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="calls", db_index=False)
    step = models.CharField(max_length=200)
    scope = models.CharField(max_length=200)
    generation = models.PositiveIntegerField(default=1)
    effect = models.CharField(max_length=200)
    resource = models.CharField(max_length=500)
    request = models.TextField()
    request_digest = models.CharField(max_length=64)
    irreversible = models.BooleanField()
    authority = models.CharField(max_length=500, default="", blank=True)
    state = models.CharField(max_length=20, default=CallState.INTENDED.value)
    unsent = models.BooleanField(default=False)
    sends = models.PositiveIntegerField(default=1)
    reused = models.PositiveIntegerField(default=0)
    attempt = models.PositiveIntegerField(default=1)
    fence = models.BigIntegerField()
    checkpoint = models.PositiveIntegerField(null=True)
    answer = models.TextField(null=True)  # noqa: DJ001 - no answer is not an empty one
    answer_digest = models.CharField(max_length=64, default="", blank=True)
    receiver_id = models.CharField(max_length=500, default="", blank=True)
    source = models.CharField(max_length=300, default="", blank=True)
    error = models.TextField(default="", blank=True)
    intended_at = models.DateTimeField()
    sent_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True)
    undoes = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, related_name="undone_by", db_index=False
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=[state.value for state in CallState]),
                name="call_state_is_known",
            ),
            models.UniqueConstraint(
                fields=["run", "scope", "effect", "resource"], name="one_call_per_resource"
            ),
            models.UniqueConstraint(
                fields=["undoes"],
                condition=models.Q(undoes__isnull=False),
                name="one_undo_per_call",
            ),
            models.CheckConstraint(
                condition=models.Q(irreversible=False) | ~models.Q(authority=""),
                name="irreversible_call_has_an_authority",
            ),
            models.CheckConstraint(
                condition=~models.Q(state=CallState.CONFIRMED.value)
                | models.Q(answer__isnull=False, settled_at__isnull=False),
                name="confirmed_call_keeps_its_answer",
            ),
        ]
        indexes = [
            models.Index(
                fields=["run"],
                condition=models.Q(state__in=sorted(state.value for state in UNSETTLED_CALLS)),
                name="call_unsettled",
            )
        ]

    def __str__(self) -> str:
        return self.key
