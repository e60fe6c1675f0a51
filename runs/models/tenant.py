"""Whose runs these are: the boundary that every query respects."""

from django.conf import settings
from django.db import models


class Tenant(models.Model):
    """One organisation or team. `seq` and `head` belong to its own audit chain (R37)."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=200)
    seq = models.BigIntegerField(default=0)
    head = models.CharField(max_length=64, default="", blank=True)

    class Meta:
        permissions = [("administer", "May add people and give roles")]

    def __str__(self) -> str:
        return self.slug


class Membership(models.Model):
    """This person sees this tenant's runs."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "user"], name="one_membership_per_person")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.tenant_id}"
