"""A group whose people may answer a decision; a decision without any is for all who may decide."""

from django.db import models

from approvals.models.decision import Decision


class Audience(models.Model):
    """By name: a group that nobody has made yet keeps a decision closed, it does not open it."""

    decision = models.ForeignKey(
        Decision, on_delete=models.CASCADE, related_name="audience", db_index=False
    )
    group = models.CharField(max_length=150)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["decision", "group"], name="one_audience_per_group_and_decision"
            )
        ]

    def __str__(self) -> str:
        return self.group
