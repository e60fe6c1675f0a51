"""A key under which monitors of a tenant are pinged by their slug."""

from django.db import models


class PingKey(models.Model):
    """Only its digest is stored: the key is shown once. `expires_at` gives an old one time to go.

    `hint` is its beginning, so that people can tell which one a script still uses.
    """

    tenant = models.ForeignKey("runs.Tenant", on_delete=models.PROTECT)
    digest = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=8)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.hint}…"
