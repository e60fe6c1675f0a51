"""What the database does with a commit, and what one transaction sees of another (R30)."""

from collections.abc import Iterator

from django.db import connection

FULL = 2


def doubts() -> Iterator[str]:
    """A sentence for each setting under which a commit could be forgotten or a guard be blind."""
    return _on_sqlite() if connection.vendor == "sqlite" else _on_postgresql()


def _on_sqlite() -> Iterator[str]:
    if int(_said("PRAGMA synchronous")) < FULL:
        yield "PRAGMA synchronous is below FULL: a power cut may take back what was committed."


def _on_postgresql() -> Iterator[str]:
    if _said("SHOW synchronous_commit") == "off":
        yield "synchronous_commit is off: a crash of the server may take back what was committed."
    level = _said("SHOW transaction_isolation")
    if level != "read committed":
        yield f"Transactions are {level}, and must be read committed: locked rows are read as they are."


def _said(question: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(question)
        return str(cursor.fetchone()[0])
