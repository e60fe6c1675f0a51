"""A person keeps a view of the list of runs under a name, or no longer."""

from django.db import transaction

from runs.ledger.commits import commits
from runs.models import SavedView
from runs.queries.clock import db_now
from runs.queries.saved_views import NoSuchView, views_of
from runs.rules.policy import Actor
from runs.rules.saved_views import MOST, ViewRefused, name_of


@commits("view_committed")
def save(actor: Actor, *, name: str, query: str) -> SavedView:
    """Under a name that is used already it takes that one's place. Raises ViewRefused."""
    if actor.user_id is None:
        raise ViewRefused("Only people have views of their own.")
    called = name_of(name)
    with transaction.atomic():
        if views_of(actor).exclude(name=called).count() >= MOST:
            raise ViewRefused(f"You keep {MOST} views already: take one away first.")
        view, _ = SavedView.objects.update_or_create(
            user_id=actor.user_id, name=called, defaults={"query": query, "at": db_now()}
        )
    return view


@commits("view_committed")
def forget(actor: Actor, view_id: int) -> None:
    """Raises NoSuchView, also for the view of somebody else."""
    with transaction.atomic():
        gone, _ = views_of(actor).filter(pk=view_id).delete()
        if not gone:
            raise NoSuchView(f"There is no view {view_id} of yours.")
