"""What is done to one of many waits for nobody for long: whoever holds it is passed by until later."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection

# Nobody who looks at the order, and nothing else of it, waits long for one that is held.
SHORT_LOCKS = "SET LOCAL lock_timeout = '500ms'"
LOCK_NOT_HAD = "55P03"


class HeldElsewhere(Exception):
    """Somebody else holds what this is about; nothing was done, and it is still to do."""


@contextmanager
def briefly() -> Iterator[None]:
    """Whoever would have to wait for a lock until this transaction ends lets go of all instead.

    Raises HeldElsewhere.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(SHORT_LOCKS)
    try:
        yield
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", None) != LOCK_NOT_HAD:
            raise
        raise HeldElsewhere("Somebody else holds it.") from error
