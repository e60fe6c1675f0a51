"""Somebody who made a run what it is without having started it, when the decision was opened."""

from django.db import models

from approvals.models.decision import Decision


class Requester(models.Model):
    """`did` completes a sentence that begins with the name: “corrected the input of this run”."""

    decision = models.ForeignKey(
        Decision, on_delete=models.CASCADE, related_name="requesters", db_index=False
    )
    name = models.CharField(max_length=200)
    did = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["name", "decision"], name="one_requester_per_name_and_decision"
            )
        ]
        indexes = [models.Index(fields=["decision"], name="requester_by_decision")]

    def __str__(self) -> str:
        return f"{self.name} {self.did}"
