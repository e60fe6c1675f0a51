"""What is watched, by which limits, and where it stands."""

from django.db import models

from monitors.rules.states import MonitorKind, MonitorState, Verdict


class Monitor(models.Model):
    """`code` is what pings are sent to: whoever knows it may ping. Durations are seconds.

    `expected_at` is when the next success is due, `alert_at` when its absence makes it go down;
    both move with every ping. `judge_at` is the one indexed time, and is never later than the
    truth: the judge looks at what has `judge_at` <= now and puts it to the next moment that
    matters. A ping only ever brings it forward, so that an ordinary one changes no index.

    `plain` says that a ping can be judged without reading cron or words; `revision` rises when
    the limits change, `seq` when state or verdict do. An empty `verdict` was never judged.
    `fence` and `beat_number` are those of the newest beat: what is older changes nothing.
    """

    tenant = models.ForeignKey("runs.Tenant", on_delete=models.PROTECT, db_index=False)
    code = models.UUIDField(unique=True)
    slug = models.CharField(max_length=100, default="", blank=True)
    name = models.CharField(max_length=200, default="", blank=True)
    about = models.TextField(default="", blank=True)
    kind = models.CharField(max_length=10, default=MonitorKind.OUTSIDE.value)
    subject = models.CharField(max_length=100, default="", blank=True)
    tags = models.CharField(max_length=500, default="", blank=True)
    public = models.BooleanField(default=False)

    period = models.FloatField(null=True)
    cron = models.CharField(max_length=200, default="", blank=True)
    zone = models.CharField(max_length=60, default="UTC")
    grace = models.FloatField()
    longest = models.FloatField(null=True)
    late_start = models.FloatField(null=True)
    progress_limit = models.FloatField(null=True)
    post_only = models.BooleanField(default=False)
    manual_resume = models.BooleanField(default=False)
    filters = models.TextField(default="{}")
    plain = models.BooleanField(default=True)
    revision = models.PositiveIntegerField(default=1)

    state = models.CharField(max_length=10, default=MonitorState.NEW.value)
    state_since = models.DateTimeField()
    verdict = models.CharField(max_length=10, default="", blank=True)
    verdict_since = models.DateTimeField(null=True)
    seq = models.PositiveBigIntegerField(default=1)
    n_pings = models.PositiveBigIntegerField(default=0)
    last_ping_at = models.DateTimeField(null=True)
    last_start_at = models.DateTimeField(null=True)
    last_start_rid = models.UUIDField(null=True)
    last_duration = models.FloatField(null=True)
    expected_at = models.DateTimeField(null=True)
    alert_at = models.DateTimeField(null=True)
    judge_at = models.DateTimeField(null=True)
    fence = models.BigIntegerField(null=True)
    beat_number = models.BigIntegerField(null=True)

    paused_at = models.DateTimeField(null=True)
    paused_until = models.DateTimeField(null=True)
    paused_by = models.CharField(max_length=200, default="", blank=True)
    paused_note = models.TextField(default="", blank=True)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=[state.value for state in MonitorState]),
                name="monitor_state_is_known",
            ),
            models.CheckConstraint(
                condition=models.Q(verdict__in=["", *(verdict.value for verdict in Verdict)]),
                name="monitor_verdict_is_known",
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=[kind.value for kind in MonitorKind]),
                name="monitor_kind_is_known",
            ),
            models.CheckConstraint(
                condition=models.Q(cron="") | models.Q(period__isnull=True, plain=False),
                name="monitor_by_cron_has_no_period",
            ),
            models.CheckConstraint(
                condition=models.Q(state=MonitorState.PAUSED.value, paused_at__isnull=False)
                | (~models.Q(state=MonitorState.PAUSED.value) & models.Q(paused_at__isnull=True)),
                name="monitor_is_paused_iff_it_says_since_when",
            ),
            models.UniqueConstraint(
                fields=["kind", "subject"],
                condition=models.Q(removed_at__isnull=True) & ~models.Q(subject=""),
                name="one_monitor_per_watched_subject",
            ),
        ]
        indexes = [
            models.Index(
                fields=["judge_at"],
                condition=models.Q(judge_at__isnull=False),
                name="monitor_to_judge",
            ),
            models.Index(fields=["tenant", "slug"], name="monitor_by_slug"),
        ]

    def __str__(self) -> str:
        return self.name or self.slug or str(self.code)
