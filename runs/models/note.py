"""What a person has noted on a run, for whoever looks at it next."""

from django.db import models

from runs.models.run import Run
from runs.models.tenant import Tenant


class Note(models.Model):
    """Its text is never changed; its author may withdraw it. A final run may be noted on too."""

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, db_index=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="notes", db_index=False)
    text = models.TextField()
    by = models.CharField(max_length=200)
    at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~models.Q(text=""), name="note_says_something"),
            models.CheckConstraint(
                condition=models.Q(withdrawn_at__isnull=True)
                | models.Q(withdrawn_at__gte=models.F("at")),
                name="note_is_withdrawn_after_it_was_written",
            ),
        ]
        indexes = [models.Index(fields=["run", "-id"], name="note_of_run")]

    def __str__(self) -> str:
        return f"{self.run_id} by {self.by}"
