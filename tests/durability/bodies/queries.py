"""Statements that take their time."""

import time

from django.db import connection

FOR_LONG = "SELECT pg_sleep(60)"


def ask_for_long() -> None:
    if connection.vendor == "sqlite":
        time.sleep(60)  # SQLite has no statement that waits
    else:
        with connection.cursor() as cursor:
            cursor.execute(FOR_LONG)
