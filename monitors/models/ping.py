"""One "I live", as it came in."""

from django.db import models

from monitors.models.monitor import Monitor
from monitors.rules.states import PingKind


class Ping(models.Model):
    """`n` counts the pings of a monitor without a gap; old rows are pruned, their numbers are not.

    `sent_at` is told by a sender that had to keep a ping back. `suspicious` says why a ping was
    written down and yet changed nothing; `duration` is that from the start with the same run id.
    """

    monitor = models.ForeignKey(
        Monitor, on_delete=models.CASCADE, related_name="pings", db_index=False
    )
    n = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=10)
    at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    rid = models.UUIDField(null=True)
    exit_status = models.PositiveSmallIntegerField(null=True)
    duration = models.FloatField(null=True)
    method = models.CharField(max_length=10)
    scheme = models.CharField(max_length=5)
    address = models.CharField(max_length=45, default="", blank=True)
    agent = models.CharField(max_length=200, default="", blank=True)
    body = models.BinaryField(default=b"")
    body_size = models.PositiveIntegerField(default=0)
    fence = models.BigIntegerField(null=True)
    beat_number = models.BigIntegerField(null=True)
    suspicious = models.CharField(max_length=20, default="", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["monitor", "n"], name="one_ping_per_number"),
            models.CheckConstraint(
                condition=models.Q(kind__in=[kind.value for kind in PingKind]),
                name="ping_kind_is_known",
            ),
        ]
        indexes = [
            models.Index(
                fields=["monitor", "rid"],
                condition=models.Q(rid__isnull=False),
                name="ping_of_a_run",
            )
        ]

    def __str__(self) -> str:
        return f"{self.n} {self.kind}"
