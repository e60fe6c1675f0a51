"""The guards are there after every migration, also where a rebuilt table has lost them (R20)."""

import pytest
from django.apps import apps
from django.core.management import call_command
from django.core.management.sql import emit_pre_migrate_signal
from django.db import connection
from django.db.migrations import Migration

from runs.models import Call, Run, Step, guards
from runs.queries.guards import missing_guards
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_guard_is_there() -> None:
    assert missing_guards(connection) == []
    assert len(set(guards.names())) == len(guards.names()) > 10


def migrate_with_a_rebuild() -> None:
    """As a migration that alters columns does it on SQLite; elsewhere triggers are dropped by hand."""
    plan = [(Migration("another", "runs"), False)]
    emit_pre_migrate_signal(0, False, "default", plan=plan, apps=apps)
    if connection.vendor == "postgresql":
        runs.without_guards()
        return
    with connection.schema_editor() as editor:
        for model in (Run, Step, Call):
            editor._remake_table(model)  # type: ignore[attr-defined]


def test_a_table_that_lost_its_guards_has_them_again_after_the_migration() -> None:
    migrate_with_a_rebuild()
    assert {"runs_run_update_guard", "runs_step_update_guard"} <= set(missing_guards(connection))

    call_command("migrate", verbosity=0)

    assert missing_guards(connection) == []


def test_a_migrate_that_changes_nothing_leaves_the_guards_alone() -> None:
    emit_pre_migrate_signal(0, False, "default", plan=[], apps=apps)

    assert missing_guards(connection) == []
