"""What a queue message runs: a hint that there may be work, and nothing more."""

from django.db import transaction

from runs.dispatch import bell, drain
from runs.engine import worker


def work(*_ids: object, **_more: object) -> None:
    """Drain placed assignments; the message's own content does not matter (rule 19).

    After its slice of time the worker leaves, so that the pool can recycle it, and rings again.
    """
    if not worker.work(stop=drain.requested) and not drain.requested():
        with transaction.atomic():
            bell.ring(0)
