"""The page of a decision as it was shown to whoever answered, kept for good."""

from django.db import models

from approvals.models.decision import Decision
from approvals.models.vote import Vote


class Record(models.Model):
    """`sheet` is canonical JSON text of all that the page said; `digest` also stands in the run's
    audit chain, so that a sheet which is altered or taken away is found out.
    """

    tenant = models.ForeignKey("runs.Tenant", on_delete=models.PROTECT, db_index=False)
    run = models.ForeignKey("runs.Run", on_delete=models.PROTECT, related_name="records")
    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="records")
    vote = models.OneToOneField(Vote, on_delete=models.PROTECT, related_name="record")
    sheet = models.TextField()
    digest = models.CharField(max_length=64)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.pk} of decision {self.decision_id}"
