"""What the judge has said of a monitor, one row a change, and when nobody could see."""

from django.db import models

from monitors.models.monitor import Monitor
from monitors.rules.states import MonitorState, Verdict


class VerdictChange(models.Model):
    """Append-only; `seq` is the monitor's at this change, so that two judges write it once.

    `since` is when what it says began, `at` when it was judged. `facts` is canonical JSON: the ping
    and the database's lease and progress, as they stood.
    """

    monitor = models.ForeignKey(
        Monitor, on_delete=models.CASCADE, related_name="verdicts", db_index=False
    )
    seq = models.PositiveBigIntegerField()
    was_state = models.CharField(max_length=10)
    state = models.CharField(max_length=10)
    was_verdict = models.CharField(max_length=10, default="", blank=True)
    verdict = models.CharField(max_length=10)
    breach = models.CharField(max_length=20, default="", blank=True)
    sentence = models.TextField()
    advice = models.TextField()
    facts = models.TextField(default="{}")
    since = models.DateTimeField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["monitor", "seq"], name="one_verdict_per_change"),
            models.CheckConstraint(
                condition=models.Q(state__in=[state.value for state in MonitorState])
                & models.Q(verdict__in=[verdict.value for verdict in Verdict]),
                name="verdict_change_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.was_verdict or 'not judged'} -> {self.verdict}"


class Blindness(models.Model):
    """From when until when no absence could be seen, and why; an open one has no end.

    Deadlines count anew from its end (R25).
    """

    from_at = models.DateTimeField()
    until_at = models.DateTimeField(null=True)
    because = models.CharField(max_length=300)

    open = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["open"], condition=models.Q(open=True), name="one_open_blindness"
            ),
            models.CheckConstraint(
                condition=models.Q(open=True, until_at__isnull=True)
                | models.Q(open=False, until_at__isnull=False),
                name="blindness_is_open_iff_it_has_no_end",
            ),
        ]
        indexes = [models.Index(fields=["from_at"], name="blindness_by_time")]

    def __str__(self) -> str:
        return self.because
