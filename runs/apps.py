"""Tells Django that the app `runs` exists, finds workflows, and keeps the database's guards."""

import os
from importlib import import_module
from typing import Any

from django.apps import AppConfig, apps
from django.contrib.auth.signals import user_logged_in
from django.db import connections
from django.db.models.signals import post_migrate, pre_migrate

from runs.definition import gates, registry


class RunsConfig(AppConfig):
    name = "runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import_module("runs.checks")
        import_module("runs.web.needs_of_runs").register_all()
        _register_retention()
        if "FAULT_AT" in os.environ:
            import_module("runs.engine.faults")
        for kind in ("event", "timer", "retry", "capacity", "relay"):
            gates.register(kind, gates.Quiet())
        post_migrate.connect(prepare, sender=self, dispatch_uid="runs.prepare")
        pre_migrate.connect(make_way, sender=self, dispatch_uid="runs.make_way")
        proofs = import_module("runs.web.proofs")
        user_logged_in.connect(proofs.stamp, dispatch_uid="runs.proofs")
        preferred = import_module("runs.web.preferred")
        user_logged_in.connect(preferred.recall, dispatch_uid="runs.preferred")
        registry.discover(app.name for app in apps.get_app_configs())


def _register_retention() -> None:
    retention = import_module("runs.engine.retention")
    count = import_module("runs.queries.selections").never_begun_amount
    remove = import_module("runs.ledger.clearing").selections
    retention.register(retention.Part(name="selections never begun", count=count, remove=remove))


def prepare(using: str, plan: Any = None, **_more: Any) -> None:
    """Make guards and functions again after every migration, from one list (R20).

    The default tenant is seen to here as well, because a flush takes it away; a flush, which has no
    plan, takes no guard.
    """
    from runs.dispatch import bell
    from runs.ledger import guards, postgresql, tenants

    database = connections[using]
    if "runs_run" not in database.introspection.table_names():
        return
    if plan is not None:
        guards.install(database)
        if database.vendor == "postgresql":
            bell.install(database)
            postgresql.install(database)
    tenants.keep_default(using=using)


def make_way(using: str, plan: Any = (), **_more: Any) -> None:
    """Take SQLite's triggers away while tables are rebuilt: they name the table that is renamed."""
    from runs.ledger import guards

    if plan and connections[using].vendor == "sqlite":
        guards.remove(connections[using])
