"""Wake a worker for a placed assignment: a hint that may be lost, late or doubled."""

from functools import cache
from pathlib import Path

from django.db.backends.base.base import BaseDatabaseWrapper
from django_q.brokers import get_broker

from runs.dispatch.brokers import ENOUGH, Bell
from runs.dispatch.message import doorbell
from runs.rules.claims import Pull

FUNCTION = Path(__file__).with_name("postgresql.sql")


def install(database: BaseDatabaseWrapper) -> None:
    """Make the function that rings on PostgreSQL again, in its present form."""
    with database.cursor() as cursor:
        cursor.execute(FUNCTION.read_text())


def ring(assignment_id: int) -> None:
    """Ring inside the transaction that placed the assignment; rolled back, it never rang."""
    _bell().ring(doorbell(assignment_id))


def pull() -> Pull | None:
    """What a statement needs to ring by itself; None where only `ring` can."""
    key = _bell().pull()
    return None if key is None else Pull(key=key, message=doorbell(0), enough=ENOUGH)


def unread() -> int:
    """How many doorbells no worker has taken yet."""
    return _bell().unread()


@cache
def _bell() -> Bell:
    bell: Bell = get_broker()
    return bell
