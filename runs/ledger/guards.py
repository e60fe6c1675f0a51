"""Make the triggers that hold the invariants in the database, after every migration (R20)."""

from django.db.backends.base.base import BaseDatabaseWrapper

from runs.models.guards import Rule, asks_the_run, grouped, name_of, register

# What a guard reads of the run that a row belongs to.
READ = ("fence", "state", "checkpoint", "generation")
NOT_HELD = "current_setting('milepost.held', true) IS DISTINCT FROM NEW.run_id::text"
# FOR SHARE: without it a takeover that has not committed yet would not be seen (R20).
READ_SHARED = (
    "SELECT fence, state, checkpoint, generation INTO r FROM runs_run"
    " WHERE id = NEW.run_id FOR SHARE;"
)


def install(connection: BaseDatabaseWrapper) -> None:
    """Make every guard again, in its present form."""
    make = _on_sqlite if connection.vendor == "sqlite" else _on_postgresql
    tables = connection.introspection.table_names()
    with connection.cursor() as cursor:
        for table, event, rules in grouped():
            # Those of other apps may not be there yet: only some apps were migrated.
            if table not in tables:
                continue
            for statement in make(table, event, rules):
                cursor.execute(statement)


def keep_append_only(table: str, *, because: str, but_for: str = "") -> None:
    """No row of another app's `table` may change, `but_for` a condition on OLD and NEW."""
    refused = f"NOT ({but_for})" if but_for else "1 = 1"
    register(Rule(table=table, event="UPDATE", refused=refused, because=because))


def remove(connection: BaseDatabaseWrapper) -> None:
    """Drop every guard of an SQLite database; whoever does it makes them again."""
    with connection.cursor() as cursor:
        for table, event, _ in grouped():
            cursor.execute(f"DROP TRIGGER IF EXISTS {name_of(table, event)}")


def _on_sqlite(table: str, event: str, rules: list[Rule]) -> list[str]:
    columns = {name: f"r.{name}" for name in READ}
    cases = " ".join(
        f"WHEN {rule.refused.format(**columns)} THEN RAISE(ABORT, '{rule.because}')"
        for rule in rules
    )
    # The run is looked up once for all of them; where there is none, its columns are NULL.
    run = " FROM (SELECT 1) LEFT JOIN runs_run r ON r.id = NEW.run_id"
    source = run if any(asks_the_run(rule) for rule in rules) else ""
    name = name_of(table, event)
    return [
        f"DROP TRIGGER IF EXISTS {name}",
        f"CREATE TRIGGER {name} BEFORE {event} ON {table}"
        f" BEGIN SELECT CASE {cases} END{source}; END",
    ]


def _on_postgresql(table: str, event: str, rules: list[Rule]) -> list[str]:
    """A function without WHEN: PostgreSQL would read that anew in every statement, as a constraint.

    The functions of `postgresql.sql` lock the run, compare the fence, and then name the run in
    `milepost.held`: until they return, asking the same of the same row again would only be slow.
    """
    alone = [rule for rule in rules if not asks_the_run(rule)]
    asking = [rule for rule in rules if asks_the_run(rule)]
    body = []
    if asking:
        body.append(f"IF {NOT_HELD} THEN {READ_SHARED} {_refusals(asking)} END IF;")
    if alone:
        # One look at them all; each by its name where one refuses.
        some = " OR ".join(f"({rule.refused})" for rule in alone)
        body.append(f"IF {some} THEN {_refusals(alone)} END IF;")
    name = name_of(table, event)
    return [
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$"
        f" DECLARE r record; BEGIN {' '.join(body)} RETURN NEW; END $$",
        f"DROP TRIGGER IF EXISTS {name} ON {table}",
        f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()",
    ]


def _refusals(rules: list[Rule]) -> str:
    columns = {name: f"r.{name}" for name in READ}
    return " ".join(
        f"IF {rule.refused.format(**columns)} THEN RAISE EXCEPTION '{rule.because}'"
        " USING ERRCODE = 'check_violation'; END IF;"
        for rule in rules
    )
