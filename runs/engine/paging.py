"""Cut a source into pages, from the first one that is not checkpointed yet."""

from collections.abc import Iterator
from typing import Any, TypeVar

from django.db.models import QuerySet

from runs.definition.context import Cursor, Page, Pageable
from runs.engine.session import Attempt
from runs.rules import canonical

Item = TypeVar("Item")


def pages_of(source: Pageable[Item], *, size: int, attempt: Attempt) -> Iterator[Page[Item]]:
    """Pages by position of a sequence, by primary key of a query set."""
    if size < 1:
        raise ValueError(f"A page has at least one item, not {size}.")
    if isinstance(source, QuerySet):
        return _one_by_one(_by_key(source, size=size, attempt=attempt), attempt)
    return _one_by_one(_by_position(source, size=size, attempt=attempt), attempt)


def _one_by_one(pages: Iterator[Page[Item]], attempt: Attempt) -> Iterator[Page[Item]]:
    """While a page is worked on, what is asked in it has its name from it (R13)."""
    begins = attempt.cursor_ordinal
    try:
        for page in pages:
            attempt.page = begins
            yield page
            begins = page.end.ordinal
    finally:
        attempt.page = None


def _by_position(source: Pageable[Item], *, size: int, attempt: Attempt) -> Iterator[Page[Item]]:
    start = attempt.cursor_ordinal
    while items := tuple(source[start : start + size]):
        start += len(items)
        yield Page(items=items, end=Cursor(ordinal=start))


def _by_key(source: QuerySet[Any], *, size: int, attempt: Attempt) -> Iterator[Page[Any]]:
    # The ordinal counts what has been passed; the token is the last key, so that rows which
    # disappear meanwhile shift nothing (R38).
    ordinal, token = attempt.cursor_ordinal, attempt.cursor_token
    rows = source.order_by("pk")
    while True:
        after = rows.filter(pk__gt=canonical.loads(token)) if token else rows
        items = tuple(after[:size])
        if not items:
            return
        ordinal, token = ordinal + len(items), canonical.dumps(_plain(items[-1].pk))
        yield Page(items=items, end=Cursor(ordinal=ordinal, token=token))


def _plain(key: Any) -> Any:
    return key if isinstance(key, int | str) else str(key)
