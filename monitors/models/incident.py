"""What is wrong, once for each cause: alerts in one group, who has it in hand, when it is told again."""

from django.db import models

from monitors.rules.incidents import IncidentState, Severity

RESOLVED = IncidentState.RESOLVED.value


class Incident(models.Model):
    """`sentence` is that of the alert it began with; `count` and `affected` say how far it went.

    `tell_at` is when people hear of it again: a reminder, the end of a snooze, or, of something
    that flapped, that it has been steady. `messages` counts what was told, and is part of each
    message's stable id; `seq` rises with every change.
    """

    tenant = models.ForeignKey("runs.Tenant", on_delete=models.PROTECT, db_index=False)
    kind = models.CharField(max_length=20)
    severity = models.CharField(max_length=10)
    sentence = models.TextField()
    workflow = models.CharField(max_length=100, default="", blank=True)
    state = models.CharField(max_length=20, default=IncidentState.OPEN.value)
    flapping = models.BooleanField(default=False)
    count = models.PositiveIntegerField(default=0)
    affected = models.PositiveIntegerField(default=0)
    opened_at = models.DateTimeField()
    last_at = models.DateTimeField()
    seq = models.PositiveIntegerField(default=1)

    messages = models.PositiveIntegerField(default=0)
    reminders = models.PositiveIntegerField(default=0)
    told_at = models.DateTimeField(null=True)
    tell_at = models.DateTimeField(null=True)

    owner = models.CharField(max_length=200, default="", blank=True)
    acknowledged_at = models.DateTimeField(null=True)
    note = models.TextField(default="", blank=True)
    snoozed_until = models.DateTimeField(null=True)
    resolved_at = models.DateTimeField(null=True)
    resolved_by = models.CharField(max_length=200, default="", blank=True)
    resolved_note = models.TextField(default="", blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=[state.value for state in IncidentState]),
                name="incident_state_is_known",
            ),
            models.CheckConstraint(
                condition=models.Q(severity__in=[severity.value for severity in Severity]),
                name="incident_severity_is_known",
            ),
            models.CheckConstraint(
                condition=(
                    models.Q(state=RESOLVED, resolved_at__isnull=False, tell_at__isnull=True)
                    & ~models.Q(resolved_by="")
                )
                | (~models.Q(state=RESOLVED) & models.Q(resolved_at__isnull=True)),
                name="incident_is_resolved_iff_it_says_when_and_by_whom",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "-opened_at", "-id"], name="incident_newest"),
            models.Index(
                fields=["tenant", "-last_at"],
                condition=~models.Q(state=RESOLVED),
                name="incident_open",
            ),
            models.Index(
                fields=["tell_at"],
                condition=models.Q(tell_at__isnull=False),
                name="incident_to_tell",
            ),
        ]

    def __str__(self) -> str:
        return self.sentence


class IncidentCause(models.Model):
    """A name under which an incident's next alert finds it: a worker, a workflow, a thing itself."""

    tenant = models.ForeignKey("runs.Tenant", on_delete=models.PROTECT, db_index=False)
    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="causes")
    name = models.CharField(max_length=300)
    open = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "name"],
                condition=models.Q(open=True),
                name="one_open_incident_per_cause",
            )
        ]

    def __str__(self) -> str:
        return self.name
