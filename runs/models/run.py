"""One execution of a workflow, and the row that every engine write is guarded by."""

from uuid import UUID

import uuid6
from django.db import models

from runs.models.plan import Plan
from runs.models.tenant import Tenant
from runs.models.worker import Worker
from runs.rules.states import RunState


def new_run_id() -> UUID:
    """A UUIDv7; only an identifier, never a clock (R38)."""
    return UUID(int=uuid6.uuid7().int)


class Run(models.Model):
    """`fence` is the newest assignment's number; `seq` and `head` are the audit chain's (R36)."""

    id = models.UUIDField(primary_key=True, default=new_run_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False)
    workflow = models.CharField(max_length=100)
    version = models.IntegerField()
    plan = models.ForeignKey(
        Plan, on_delete=models.PROTECT, db_column="plan_hash", db_index=False, related_name="+"
    )
    reference = models.CharField(max_length=200)
    labels = models.JSONField(default=dict, blank=True)
    start_key = models.CharField(max_length=200, null=True)  # noqa: DJ001 - absent is not ""
    input = models.TextField()
    input_digest = models.CharField(max_length=64)
    started_by = models.CharField(max_length=200)

    state = models.CharField(max_length=20, default=RunState.QUEUED.value)
    reason = models.TextField(default="", blank=True)
    step = models.CharField(max_length=200, default="", blank=True)
    step_ordinal = models.IntegerField(default=0)
    steps_total = models.IntegerField()
    generation = models.IntegerField(default=1)
    cancel_requested = models.BooleanField(default=False)
    pause_requested = models.BooleanField(default=False)
    paused_at = models.DateTimeField(null=True)
    paused_with = models.UUIDField(null=True)

    # Begun in place of that run, behind that checkpoint of it; so often in a row by itself (R5).
    restart_of = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, db_index=False, related_name="restarts"
    )
    restart_from = models.IntegerField(null=True)
    automatic_restarts = models.SmallIntegerField(db_default=0)
    supersede_requested = models.BooleanField(db_default=False)

    # Seconds, where somebody gave this run another deadline than its plan's.
    deadline = models.FloatField(null=True)

    fence = models.BigIntegerField(default=0)
    worker = models.ForeignKey(
        Worker, on_delete=models.PROTECT, null=True, db_index=False, related_name="runs"
    )
    checkpoint = models.IntegerField(default=0)
    seq = models.BigIntegerField(default=0)
    head = models.CharField(max_length=64, default="", blank=True)

    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        permissions = [
            ("operate", "May start, resume, pause and cancel runs"),
            ("view_payloads", "May see inputs, facts, requests and answers in clear"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "workflow", "start_key"],
                condition=models.Q(start_key__isnull=False),
                name="one_run_per_start_key",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "-created_at", "-id"], name="run_newest"),
            models.Index(fields=["state", "-created_at", "-id"], name="run_by_state"),
            models.Index(fields=["workflow", "-created_at", "-id"], name="run_by_workflow"),
            models.Index(fields=["reference"], name="run_by_reference"),
            models.Index(
                fields=["restart_of"],
                condition=models.Q(restart_of__isnull=False),
                name="run_by_what_it_restarts",
            ),
            models.Index(
                fields=["paused_with"],
                condition=models.Q(paused_with__isnull=False),
                name="run_paused_with_others",
            ),
            models.Index(
                fields=["worker"],
                condition=models.Q(state=RunState.RUNNING.value),
                name="run_in_hands",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.workflow} {self.reference}"
