"""Count what a piece of work costs the database: statements and commits, not seconds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

WRITES = ("INSERT", "UPDATE", "DELETE", "WITH", "SELECT RUNS_", "SELECT * FROM RUNS_")


@dataclass(slots=True)
class Counted:
    """`commits` are transactions that wrote: blocks, and single statements outside of one."""

    statements: int = 0
    commits: int = 0


@contextmanager
def counting() -> Iterator[Counted]:
    """Count this thread's statements and commits on the default database."""
    counted, block = Counted(), {"wrote": False}

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        counted.statements += 1
        result = execute(sql, params, many, context)
        # What touched no row has committed nothing.
        if sql.lstrip().upper().startswith(WRITES) and context["cursor"].rowcount:
            if not connection.in_atomic_block:
                counted.commits += 1
            elif not block["wrote"]:
                block["wrote"] = True
                counted.commits += 1
                transaction.on_commit(lambda: block.update(wrote=False), robust=True)
        return result

    with connection.execute_wrapper(note):
        yield counted
