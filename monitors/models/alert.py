"""One thing that went wrong, from when until when, and the incident it belongs to."""

from django.db import models

from monitors.models.incident import Incident
from monitors.models.monitor import Monitor
from monitors.rules.incidents import Severity


class Alert(models.Model):
    """`subject` names the thing for good; at most one alert is open for it.

    `change` is the monitor's `seq` of the change it was written with, so that each can be found
    for the other; it is null for what is no monitor.
    """

    tenant = models.ForeignKey("runs.Tenant", on_delete=models.PROTECT, db_index=False)
    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="alerts")
    monitor = models.ForeignKey(
        Monitor, on_delete=models.SET_NULL, null=True, related_name="alerts"
    )
    subject = models.CharField(max_length=200)
    severity = models.CharField(max_length=10)
    sentence = models.TextField()
    link = models.CharField(max_length=300, default="", blank=True)
    change = models.BigIntegerField(null=True)
    opened_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    closed_because = models.TextField(default="", blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(severity__in=[severity.value for severity in Severity]),
                name="alert_severity_is_known",
            ),
            models.CheckConstraint(
                condition=models.Q(closed_at__isnull=True, closed_because="")
                | (models.Q(closed_at__isnull=False) & ~models.Q(closed_because="")),
                name="alert_is_closed_iff_it_says_why",
            ),
            models.UniqueConstraint(
                fields=["tenant", "subject"],
                condition=models.Q(closed_at__isnull=True),
                name="one_open_alert_per_subject",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "subject", "-opened_at"], name="alert_of_a_subject"),
            models.Index(fields=["incident", "-opened_at"], name="alert_of_an_incident"),
        ]

    def __str__(self) -> str:
        return self.sentence
