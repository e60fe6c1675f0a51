"""What one person answered: option, fields and comment, bound to the digest they were shown."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from approvals.models.decision import Decision

COUNTS = Q(void_at__isnull=True)


class Vote(models.Model):
    """`fields`, `struck` and `groups` are canonical JSON text; `door` is where it came in.

    `voice` is whose right was used: the voter's own, or that of whoever delegated it, who is then
    named in `on_behalf_of`. `groups` are those that the voice stands for. `alone` says that nobody
    else could have answered, `break_glass` that an administrator went past a rule. A vote with a
    `void_at` counts no more.
    """

    decision = models.ForeignKey(
        Decision, on_delete=models.PROTECT, related_name="votes", db_index=False
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    by = models.CharField(max_length=200)
    voice = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        db_index=False,
        related_name="+",
    )
    on_behalf_of = models.CharField(max_length=200, default="", blank=True)
    groups = models.TextField(default="[]")
    option = models.CharField(max_length=200)
    fields = models.TextField(default="{}")
    comment = models.TextField(default="", blank=True)
    digest = models.CharField(max_length=64)
    struck = models.TextField(default="[]")
    alone = models.BooleanField()
    break_glass = models.BooleanField(default=False)
    door = models.CharField(max_length=20)
    address = models.GenericIPAddressField(null=True)
    at = models.DateTimeField()
    void_at = models.DateTimeField(null=True)
    void_because = models.CharField(max_length=300, default="", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["decision", "by"], condition=COUNTS, name="one_vote_per_name"
            ),
            models.UniqueConstraint(
                fields=["decision", "user"],
                condition=Q(user__isnull=False) & COUNTS,
                name="one_vote_per_person",
            ),
            models.UniqueConstraint(
                fields=["decision", "voice"],
                condition=Q(voice__isnull=False) & COUNTS,
                name="one_vote_per_voice",
            ),
            models.CheckConstraint(
                condition=Q(void_at__isnull=True, void_because="")
                | (Q(void_at__isnull=False) & ~Q(void_because="")),
                name="vote_that_counts_no_more_says_why",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.by}: {self.option}"
