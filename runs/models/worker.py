"""One incarnation of a worker process, and the lease that all its assignments share."""

from django.db import models

from runs.rules.states import WorkerState


class Worker(models.Model):
    """Process identity is (host, boot id, pid namespace, pid, start time): a pid alone is reused."""

    id = models.UUIDField(primary_key=True, editable=False)
    state = models.CharField(max_length=20, default=WorkerState.LIVE.value)
    host = models.CharField(max_length=200)
    boot_id = models.CharField(max_length=100)
    pid_namespace = models.CharField(max_length=100)
    pid = models.PositiveIntegerField()
    pid_started = models.FloatField()
    cluster_pid = models.PositiveIntegerField(default=0)
    release = models.CharField(max_length=100, default="", blank=True)
    draining = models.BooleanField(default=False)
    proven_dead = models.BooleanField(default=False)
    # Of the session advisory lock that its keeper's own connection holds; NULL while it holds none.
    lock_key = models.BigIntegerField(null=True)
    # Which plans its code can execute: name, version and hash of each.
    plans = models.JSONField(default=list)
    memory_kb = models.PositiveBigIntegerField(default=0)
    started_at = models.DateTimeField()
    renewed_at = models.DateTimeField()
    lease_until = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    end_reason = models.CharField(max_length=300, default="", blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=[state.value for state in WorkerState]),
                name="worker_state_is_known",
            )
        ]
        indexes = [
            models.Index(
                fields=["lease_until"],
                condition=models.Q(state=WorkerState.LIVE.value),
                name="worker_leases",
            )
        ]

    def __str__(self) -> str:
        return f"{self.host}/{self.pid}"
