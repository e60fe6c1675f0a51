"""Which triggers a database lacks."""

from django.db.backends.base.base import BaseDatabaseWrapper

from runs.models import guards


def missing_guards(connection: BaseDatabaseWrapper) -> list[str]:
    """Names of guards that this database does not have (R20)."""
    there_is = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled = 'O'"
    if connection.vendor == "sqlite":
        there_is = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    with connection.cursor() as cursor:
        cursor.execute(there_is)
        there = {row[0] for row in cursor.fetchall()}
    return [name for name in guards.names() if name not in there]
