"""Append-only, hash-chained facts about a run, or about a tenant after its runs have ended."""

from django.db import models

from runs.models.run import Run
from runs.models.tenant import Tenant


class AuditEvent(models.Model):
    """The hash covers a salted digest of `body`, so that body and salt can be erased (R37)."""

    # The guard on this table reads the run's row anyway; a foreign key would read it once more
    # for every event of every step.
    tenant = models.ForeignKey(
        Tenant, on_delete=models.PROTECT, db_index=False, db_constraint=False
    )
    run = models.ForeignKey(
        Run,
        on_delete=models.PROTECT,
        null=True,
        related_name="events",
        db_index=False,
        db_constraint=False,
    )
    seq = models.BigIntegerField()
    kind = models.CharField(max_length=60)
    step = models.CharField(max_length=200, default="", blank=True)
    fence = models.BigIntegerField(default=0)
    actor = models.CharField(max_length=200, default="", blank=True)
    at = models.DateTimeField()
    body = models.TextField()
    salt = models.CharField(max_length=32)
    payload_digest = models.CharField(max_length=64)
    prev = models.CharField(max_length=64, default="", blank=True)
    hash = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "seq"],
                condition=models.Q(run__isnull=False),
                name="one_event_per_place_in_a_runs_chain",
            ),
            models.UniqueConstraint(
                fields=["tenant", "seq"],
                condition=models.Q(run__isnull=True),
                name="one_event_per_place_in_a_tenants_chain",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.seq} {self.kind}"
