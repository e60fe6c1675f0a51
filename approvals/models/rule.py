"""A rule that approves reversible calls by itself, and each version of what it says."""

from django.db import models
from django.db.models import F, Q


class ApprovalRule(models.Model):
    """`version` is the number of the one that counts; `seq` rises with every change."""

    tenant = models.ForeignKey("runs.Tenant", on_delete=models.PROTECT, db_index=False)
    name = models.CharField(max_length=80)
    enabled = models.BooleanField(default=False)
    version = models.PositiveIntegerField(default=1)
    seq = models.PositiveIntegerField(default=1)
    made_by = models.CharField(max_length=200)
    made_at = models.DateTimeField()
    changed_by = models.CharField(max_length=200)
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="one_rule_per_name"),
        ]

    def __str__(self) -> str:
        return self.name


class RuleVersion(models.Model):
    """What a rule says, never changed; `conditions` as they were written, one a line.

    `used` counts the decisions it has answered, and never passes `most`.
    """

    rule = models.ForeignKey(
        ApprovalRule, on_delete=models.PROTECT, related_name="versions", db_index=False
    )
    number = models.PositiveIntegerField()
    workflow = models.CharField(max_length=100)
    step = models.CharField(max_length=200, default="", blank=True)
    effect = models.CharField(max_length=200)
    conditions = models.TextField(default="", blank=True)
    most = models.PositiveIntegerField()
    used = models.PositiveIntegerField(default=0)
    ends_at = models.DateTimeField()
    because = models.TextField()
    by = models.CharField(max_length=200)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["rule", "number"], name="one_version_per_number"),
            models.CheckConstraint(
                condition=Q(used__lte=F("most")), name="rule_is_used_no_more_than_it_says"
            ),
            models.CheckConstraint(condition=Q(ends_at__gt=F("at")), name="rule_ends"),
            models.CheckConstraint(
                condition=~Q(because="") & ~Q(workflow="") & ~Q(effect=""),
                name="rule_says_what_it_is_about_and_why",
            ),
        ]

    def __str__(self) -> str:
        return f"rule “{self.rule.name}” version {self.number}"
