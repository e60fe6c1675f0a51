"""Tells Django that the app `runs` exists, finds workflows, and keeps the database's guards."""

from importlib import import_module
from typing import Any

from django.apps import AppConfig, apps
from django.db import connections
from django.db.models.signals import post_migrate

from runs.definition import gates, registry


class RunsConfig(AppConfig):
    name = "runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import_module("runs.checks")
        for kind in ("event", "timer", "retry", "capacity"):
            gates.register(kind, gates.Quiet())
        post_migrate.connect(make_guards, sender=self, dispatch_uid="runs.guards")
        registry.discover(app.name for app in apps.get_app_configs())


def make_guards(using: str, **_more: Any) -> None:
    """Make triggers and functions again after every migration, from one list (R20)."""
    from runs.ledger import guards, postgresql

    database = connections[using]
    if "runs_run" not in database.introspection.table_names():
        return
    guards.install(database)
    if database.vendor == "postgresql":
        postgresql.install(database)
