"""What one person answered: option, fields and comment, bound to the digest they were shown."""

from django.conf import settings
from django.db import models

from approvals.models.decision import Decision


class Vote(models.Model):
    """`fields` and `struck` are canonical JSON text; `door` is where it came in: page or command.

    `alone` says that nobody else could have answered.
    """

    decision = models.ForeignKey(
        Decision, on_delete=models.PROTECT, related_name="votes", db_index=False
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    by = models.CharField(max_length=200)
    option = models.CharField(max_length=200)
    fields = models.TextField(default="{}")
    comment = models.TextField(default="", blank=True)
    digest = models.CharField(max_length=64)
    struck = models.TextField(default="[]")
    alone = models.BooleanField()
    door = models.CharField(max_length=20)
    address = models.GenericIPAddressField(null=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["decision", "by"], name="one_vote_per_name"),
            models.UniqueConstraint(
                fields=["decision", "user"],
                condition=models.Q(user__isnull=False),
                name="one_vote_per_person",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.by}: {self.option}"
