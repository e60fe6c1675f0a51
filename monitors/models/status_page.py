"""What a tenant shows to everybody: a page of chosen monitors, and badges with a signed address."""

from django.db import models


class StatusPage(models.Model):
    """`badge_round` is part of what is signed; the round before it holds until `badges_until`."""

    tenant = models.OneToOneField("runs.Tenant", on_delete=models.PROTECT)
    slug = models.CharField(max_length=60, unique=True)
    title = models.CharField(max_length=200)
    published = models.BooleanField(default=False)
    badge_round = models.PositiveIntegerField(default=1)
    badges_until = models.DateTimeField(null=True)
    changed_by = models.CharField(max_length=200)
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.slug
