"""What people are told of a decision that waits, each once: a reminder, or that others are asked too."""

from django.db import models

from approvals.models.decision import Decision

KINDS = ("reminder", "escalation")


class Notice(models.Model):
    """`groups` is canonical JSON text: who may answer as well from an escalation on."""

    decision = models.ForeignKey(
        Decision, on_delete=models.CASCADE, related_name="notices", db_index=False
    )
    kind = models.CharField(max_length=20)
    number = models.PositiveIntegerField()
    groups = models.TextField(default="[]")
    due_at = models.DateTimeField()
    told_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["decision", "kind", "number"], name="one_notice_per_moment"
            ),
            models.CheckConstraint(condition=models.Q(kind__in=KINDS), name="notice_kind_is_known"),
        ]
        indexes = [
            models.Index(
                fields=["due_at"], condition=models.Q(told_at__isnull=True), name="notice_due"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"
