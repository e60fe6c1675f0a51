"""Wake a worker for a placed assignment: a hint that may be lost, late or doubled."""

from functools import cache

from django_q.brokers import get_broker

from runs.dispatch.brokers import Bell
from runs.dispatch.message import doorbell


def ring(assignment_id: int) -> None:
    """Ring inside the transaction that placed the assignment; rolled back, it never rang."""
    _bell().ring(doorbell(assignment_id))


def unread() -> int:
    """How many doorbells no worker has taken yet."""
    return _bell().unread()


@cache
def _bell() -> Bell:
    bell: Bell = get_broker()
    return bell
