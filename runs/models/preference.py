"""How a person likes to read, kept for whatever browser they sign in with next."""

from django.conf import settings
from django.db import models


class Preference(models.Model):
    """`choices` by name, as `runs.rules.preferences` knows them; what is not there is not chosen."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    choices = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"of user {self.user_id}"
