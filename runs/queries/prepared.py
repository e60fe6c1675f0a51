"""Statements that are asked thousands of times a second, planned once in each process."""

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.utils import CursorWrapper


def prepared_cursor() -> CursorWrapper:
    """On PostgreSQL a cursor that binds on the server, where these few statements are prepared."""
    database = connections[DEFAULT_DB_ALIAS]  # once: `connection` looks it up for every word
    if database.vendor != "postgresql":
        return database.cursor()
    database.ensure_connection()
    database.connection.prepare_threshold = 1
    return CursorWrapper(psycopg.Cursor(database.connection), database)
