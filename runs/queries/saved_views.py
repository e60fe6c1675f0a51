"""The views of the list of runs that a person has kept."""

from django.db.models import QuerySet

from runs.models import SavedView
from runs.rules.policy import Actor


class NoSuchView(Exception):
    """There is no such view, or it is somebody else's."""


def views_of(actor: Actor) -> QuerySet[SavedView]:
    """By name; whoever is no person has none."""
    return SavedView.objects.filter(user_id=actor.user_id or 0).order_by("name")
