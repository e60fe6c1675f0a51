"""What a parked run waits for, and the answer it got."""

from django.db import models

from runs.models.run import Run
from runs.rules.states import WaitKind, WaitState


class Wait(models.Model):
    """`on_due` says what the clock does at `due_at`: resume, cancel, fail, stay, or let an answer
    that was given before take effect.

    A superseded one ended its run, which was resumed: whatever the body asks is asked anew.
    """

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="waits", db_index=False)
    step = models.CharField(max_length=200)
    generation = models.PositiveIntegerField(default=1)
    name = models.CharField(max_length=300)
    kind = models.CharField(max_length=20)
    state = models.CharField(max_length=20, default=WaitState.OPEN.value)
    superseded = models.BooleanField(db_default=False, default=False)
    fence = models.BigIntegerField()
    due_at = models.DateTimeField(null=True)
    on_due = models.CharField(max_length=20, default="stay")
    event_name = models.CharField(max_length=200, default="", blank=True)
    correlation_id = models.CharField(max_length=300, default="", blank=True)
    subject = models.TextField(default="{}")
    answer = models.TextField(null=True)  # noqa: DJ001 - no answer is not an empty one
    answer_digest = models.CharField(max_length=64, default="", blank=True)
    closed_by = models.CharField(max_length=200, default="", blank=True)
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=[state.value for state in WaitState]),
                name="wait_state_is_known",
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=[kind.value for kind in WaitKind]),
                name="wait_kind_is_known",
            ),
            models.CheckConstraint(
                condition=~models.Q(kind=WaitKind.DECISION.value, on_due="resume"),
                name="silence_never_answers_a_decision",
            ),
            models.UniqueConstraint(
                fields=["run", "step", "generation", "name"],
                condition=models.Q(superseded=False),
                name="one_wait_per_name",
            ),
            models.UniqueConstraint(
                fields=["run"],
                condition=models.Q(state=WaitState.OPEN.value),
                name="one_open_wait_per_run",
            ),
        ]
        indexes = [
            models.Index(
                fields=["due_at"],
                condition=models.Q(state=WaitState.OPEN.value, due_at__isnull=False),
                name="wait_due",
            ),
            models.Index(
                fields=["opened_at", "run"],
                condition=models.Q(state=WaitState.OPEN.value),
                name="wait_longest",
            ),
            models.Index(
                fields=["event_name", "correlation_id"],
                condition=models.Q(state=WaitState.OPEN.value, kind=WaitKind.EVENT.value),
                name="wait_for_event",
            ),
            models.Index(
                fields=["event_name", "correlation_id"],
                condition=models.Q(
                    state__in=[WaitState.EXPIRED.value, WaitState.WITHDRAWN.value],
                    kind=WaitKind.EVENT.value,
                ),
                name="wait_ended_without_event",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id} waits for {self.kind} {self.name}"
