"""What a decision rested on when it was opened, to be compared when it is answered."""

from django.db import models

from approvals.models.decision import Decision


class Ground(models.Model):
    """`facts` is canonical JSON text: the run's input, its calls, what is known of them."""

    decision = models.OneToOneField(Decision, on_delete=models.PROTECT, related_name="ground")
    facts = models.TextField()

    def __str__(self) -> str:
        return f"ground of {self.decision_id}"
