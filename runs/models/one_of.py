"""A condition on a word out of a fixed list, as short as each database can read it."""

from collections.abc import Iterable
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.sql.compiler import SQLCompiler


class OneOf(models.Func):
    """`name` is one of these words.

    PostgreSQL parses constraints anew in each statement that writes to their table, and parses the
    list of an IN word by word; so there it is one array, said as one literal.
    """

    output_field = models.BooleanField()
    conditional = True

    def __init__(self, name: str, words: Iterable[str]) -> None:
        self.words = sorted(words)
        super().__init__(models.F(name))

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_more: Any) -> Any:
        column, params = compiler.compile(self.source_expressions[0])
        words = ", ".join(f"'{word}'" for word in self.words)
        return f"{column} IN ({words})", params

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_more: Any
    ) -> Any:
        column, params = compiler.compile(self.source_expressions[0])
        return f"{column} = ANY ('{{{','.join(self.words)}}}'::text[])", params
