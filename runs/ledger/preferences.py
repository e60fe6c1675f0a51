"""Keep how a person likes to read."""

from collections.abc import Mapping

from django.db import transaction

from runs.ledger.commits import commits
from runs.models import Preference
from runs.rules.policy import Actor


@commits("preference_committed", when=bool)
def keep(actor: Actor, said: Mapping[str, str]) -> bool:
    """Add to what this person has chosen; False for whoever is no person, or chooses nothing."""
    if actor.user_id is None or not said:
        return False
    with transaction.atomic():
        Preference.objects.get_or_create(user_id=actor.user_id)
        row = Preference.objects.select_for_update().get(pk=actor.user_id)
        row.choices = {**row.choices, **said}
        row.save(update_fields=["choices"])
    return True
