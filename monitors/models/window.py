"""A time in which absence is expected and nobody is called."""

from django.db import models

from monitors.models.monitor import Monitor


class MaintenanceWindow(models.Model):
    """One stretch from `starts_at` to `ends_at`, or, by `cron`, one of `lasts` seconds each time.

    It is for one monitor, for those with a tag, or, naming neither, for all of the tenant.
    """

    tenant = models.ForeignKey("runs.Tenant", on_delete=models.PROTECT)
    monitor = models.ForeignKey(
        Monitor, on_delete=models.CASCADE, null=True, related_name="windows"
    )
    tag = models.CharField(max_length=50, default="", blank=True)
    because = models.CharField(max_length=200)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField(null=True)
    cron = models.CharField(max_length=200, default="", blank=True)
    zone = models.CharField(max_length=60, default="UTC")
    lasts = models.FloatField(null=True)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(cron="", ends_at__isnull=False, lasts__isnull=True)
                | (~models.Q(cron="") & models.Q(lasts__gt=0)),
                name="window_has_an_end_or_lasts_each_time",
            ),
            models.CheckConstraint(
                condition=models.Q(ends_at__isnull=True)
                | models.Q(ends_at__gt=models.F("starts_at")),
                name="window_ends_after_it_starts",
            ),
            models.CheckConstraint(
                condition=models.Q(monitor__isnull=True) | models.Q(tag=""),
                name="window_is_for_a_monitor_or_a_tag",
            ),
        ]

    def __str__(self) -> str:
        return self.because
