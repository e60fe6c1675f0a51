"""When a workflow is due by itself, and what became of each time."""

from django.db import models

from runs.models.run import Run
from runs.models.tenant import Tenant
from runs.rules.catching_up import CatchUp
from runs.rules.overlap import Overlap
from runs.rules.schedules import FiringState
from runs.rules.wall_clock import DstPolicy


class Schedule(models.Model):
    """`next_at` is the next nominal time, `due_at` that time with its jitter; neither after the end.

    Durations are seconds. A removed one keeps its firings.
    """

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False)
    slug = models.CharField(max_length=60)
    name = models.CharField(max_length=200, default="", blank=True)
    workflow = models.CharField(max_length=100)
    version = models.PositiveIntegerField(null=True)
    cron = models.CharField(max_length=200, default="", blank=True)
    every = models.FloatField(null=True)
    zone = models.CharField(max_length=60)
    dst = models.CharField(max_length=10)
    overlap = models.CharField(max_length=20)
    catch_up = models.CharField(max_length=10)
    window = models.FloatField(default=0)
    jitter = models.FloatField(default=0)
    input = models.TextField()
    labels = models.JSONField(default=dict, blank=True)
    anchor = models.DateTimeField()
    ends_at = models.DateTimeField(null=True)

    enabled = models.BooleanField(default=True)
    paused_note = models.TextField(default="", blank=True)
    paused_at = models.DateTimeField(null=True)
    resumed_at = models.DateTimeField(null=True)
    next_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    skips = models.PositiveIntegerField(default=0)
    revision = models.PositiveIntegerField(default=1)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(overlap__in=[policy.value for policy in Overlap]),
                name="schedule_says_what_overlap_does",
            ),
            models.CheckConstraint(
                condition=models.Q(catch_up__in=[policy.value for policy in CatchUp])
                & models.Q(dst__in=[policy.value for policy in DstPolicy]),
                name="schedule_policies_are_known",
            ),
            models.CheckConstraint(
                condition=models.Q(cron="", every__gt=0)
                | (~models.Q(cron="") & models.Q(every__isnull=True)),
                name="schedule_is_cron_or_interval",
            ),
            models.CheckConstraint(
                condition=models.Q(next_at__isnull=True, due_at__isnull=True)
                | models.Q(next_at__isnull=False, due_at__isnull=False),
                name="schedule_is_due_iff_it_has_a_next_time",
            ),
            models.UniqueConstraint(
                fields=["tenant", "slug"],
                condition=models.Q(removed_at__isnull=True),
                name="one_schedule_per_name",
            ),
        ]
        indexes = [
            models.Index(
                fields=["due_at"],
                condition=models.Q(due_at__isnull=False),
                name="schedule_due",
            ),
            models.Index(fields=["workflow"], name="schedule_by_workflow"),
        ]

    def __str__(self) -> str:
        return self.slug


class Firing(models.Model):
    """One nominal time of a schedule, or one time that a person ran it: what became of it, and why."""

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False)
    schedule = models.ForeignKey(
        Schedule, on_delete=models.PROTECT, related_name="firings", db_index=False
    )
    nominal_at = models.DateTimeField()
    by_hand = models.BooleanField(default=False)
    state = models.CharField(max_length=10)
    reason = models.TextField(default="", blank=True)
    run = models.ForeignKey(
        Run, on_delete=models.PROTECT, null=True, related_name="firings", db_index=False
    )
    decided_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=[state.value for state in FiringState]),
                name="firing_state_is_known",
            ),
            models.CheckConstraint(
                condition=~models.Q(
                    state__in=[FiringState.STARTED.value, FiringState.REPLACED.value]
                )
                | models.Q(run__isnull=False),
                name="firing_that_started_names_its_run",
            ),
            models.CheckConstraint(
                condition=models.Q(state=FiringState.STARTED.value) | ~models.Q(reason=""),
                name="firing_that_did_not_start_says_why",
            ),
            models.UniqueConstraint(
                fields=["schedule", "nominal_at"], name="one_firing_per_nominal_time"
            ),
            models.UniqueConstraint(fields=["run"], name="one_firing_per_run"),
            models.UniqueConstraint(
                fields=["schedule"],
                condition=models.Q(state=FiringState.QUEUED.value),
                name="one_queued_firing_per_schedule",
            ),
        ]
        indexes = [
            models.Index(
                fields=["schedule", "-nominal_at"],
                condition=models.Q(run__isnull=False),
                name="firing_with_a_run",
            )
        ]

    def __str__(self) -> str:
        return f"{self.schedule_id} at {self.nominal_at:%Y-%m-%d %H:%M:%S}: {self.state}"
