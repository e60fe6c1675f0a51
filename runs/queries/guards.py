"""Which of the triggers that hold the invariants a database lacks (R20)."""

from django.db.backends.base.base import BaseDatabaseWrapper

from runs.models.guards import GUARDS

SQLITE_TRIGGERS = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
POSTGRESQL_TRIGGERS = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled = 'O'"


def missing_guards(connection: BaseDatabaseWrapper) -> list[str]:
    """Names of guards that this database does not have."""
    sqlite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        cursor.execute(SQLITE_TRIGGERS if sqlite else POSTGRESQL_TRIGGERS)
        there = {row[0] for row in cursor.fetchall()}
    return [guard.name for guard in GUARDS if guard.name not in there]
