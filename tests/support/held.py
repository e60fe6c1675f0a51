"""A run that somebody else holds, for as long as a test wants it."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from uuid import UUID

import pytest
from django.db import OperationalError, connection, transaction

from runs.ledger import transitions
from runs.models import Run
from tests.support.waiting import PATIENCE


@contextmanager
def held(run_id: UUID) -> Iterator[None]:
    """By another session; on SQLite, which has no locks of rows, as if its file were taken just then."""
    if connection.vendor == "sqlite":
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(transitions, "lock", but_for(run_id))
            yield
        return
    taken, over = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with transaction.atomic():
                transitions.lock(run_id)
                taken.set()
                over.wait()
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=1) as pool:
        holding = pool.submit(hold)
        try:
            assert taken.wait(PATIENCE)
            yield
        finally:
            over.set()
            holding.result(PATIENCE)


def but_for(taken: UUID) -> Callable[[UUID], Run]:
    lock = transitions.lock

    def locked(run_id: UUID) -> Run:
        if run_id == taken:
            raise OperationalError("database is locked")
        return lock(run_id)

    return locked
