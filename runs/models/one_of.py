"""A condition on a word out of a fixed list, as migrations before 0023 said it."""

from collections.abc import Iterable
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.sql.compiler import SQLCompiler


class OneOf(models.Func):
    """The column `name` holds one of these words.

    PostgreSQL parses constraints anew in each statement that writes to their table, and the list of
    an IN word by word; so there it is one array, said as one literal.
    """

    output_field = models.BooleanField()
    conditional = True

    def __init__(self, name: str, words: Iterable[str]) -> None:
        words = sorted(words)
        super().__init__(
            models.F(name),
            template="(%(expressions)s IN (%(listed)s))",
            listed=", ".join(f"'{word}'" for word in words),
            joined=",".join(words),
        )

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **more: Any
    ) -> Any:
        """One constant instead of a list of them."""
        array = "(%(expressions)s = ANY ('{%(joined)s}'::text[]))"
        return super().as_sql(compiler, connection, template=array, **more)
