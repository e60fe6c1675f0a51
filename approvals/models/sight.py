"""Somebody has had the whole of what a page shows only in part, before they agreed to it."""

from django.db import models

from approvals.models.decision import Decision


class Sight(models.Model):
    """`how` is page or download; `digest` is that of what was shown whole. Never changed."""

    decision = models.ForeignKey(
        Decision, on_delete=models.PROTECT, related_name="sights", db_index=False
    )
    by = models.CharField(max_length=200)
    how = models.CharField(max_length=20)
    digest = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["decision", "by", "how", "digest"], name="one_sight_per_person_and_way"
            )
        ]

    def __str__(self) -> str:
        return f"{self.by} by {self.how}"
