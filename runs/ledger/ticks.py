"""Write down that a duty of the clockwork has gone round."""

from runs.ledger.commits import commits
from runs.models import Tick
from runs.queries.clock import db_now


@commits("tick_committed")
def note(duty: str, *, holder: str) -> None:
    Tick.objects.update_or_create(duty=duty, defaults={"holder": holder, "at": db_now()})
