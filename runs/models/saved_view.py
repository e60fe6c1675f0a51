"""A filter of the list of runs that a person keeps under a name."""

from django.conf import settings
from django.db import models


class SavedView(models.Model):
    """`query` is what stands in the list's address; it is that person's alone."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    name = models.CharField(max_length=40)
    query = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "name"], name="one_saved_view_per_name_of_a_person"
            )
        ]

    def __str__(self) -> str:
        return self.name
