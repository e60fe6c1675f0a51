"""Inside the engine's transaction no other database is used: what it wrote there would not be rolled back (R29)."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections


class AnotherDatabase(RuntimeError):
    """A checkpoint's body or a transactional step used a model of another database alias."""


@contextmanager
def no_other_database(step: str) -> Iterator[None]:
    """Refuse every statement to another alias; with one database this costs nothing."""
    with ExitStack() as stack:
        for alias in connections:
            if alias != DEFAULT_DB_ALIAS:
                stack.enter_context(connections[alias].execute_wrapper(_refusing(step, alias)))
        yield


def _refusing(step: str, alias: str) -> Callable[..., Any]:
    def refuse(*_: object) -> None:
        raise AnotherDatabase(
            f"Step {step} used the database {alias!r} inside a transaction of {DEFAULT_DB_ALIAS!r}. "
            "The two do not commit together: use it before the transaction, or in another step."
        )

    return refuse
