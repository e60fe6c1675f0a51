"""How a person likes to read."""

from runs.models import Preference


def preferred_by(user_id: int) -> dict[str, str]:
    """What they have chosen, by name; nothing for who never chose."""
    rows = Preference.objects.filter(pk=user_id).values_list("choices", flat=True)
    return rows.first() or {}
