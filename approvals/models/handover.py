"""Who is expected to answer a decision from now on; who may is not changed by it."""

from django.conf import settings
from django.db import models

from approvals.models.decision import Decision


class Handover(models.Model):
    """To one person or to one group; the latest counts."""

    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, related_name="handovers")
    by = models.CharField(max_length=200)
    to_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    to_name = models.CharField(max_length=200, default="", blank=True)
    to_group = models.CharField(max_length=150, default="", blank=True)
    because = models.TextField(default="", blank=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=(models.Q(to_name="") & ~models.Q(to_group=""))
                | (~models.Q(to_name="") & models.Q(to_group="")),
                name="handover_is_to_a_person_or_to_a_group",
            )
        ]

    def __str__(self) -> str:
        return f"{self.by} to {self.to_name or self.to_group}"
