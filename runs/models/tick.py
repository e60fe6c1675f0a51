"""When each duty of the clockwork last went round, and who did it (R34)."""

from django.db import models


class Tick(models.Model):
    duty = models.CharField(max_length=60, primary_key=True)
    holder = models.CharField(max_length=200)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.duty} at {self.at:%H:%M:%S}"
