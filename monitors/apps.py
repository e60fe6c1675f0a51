"""Tells Django that the app `monitors` exists, keeps its function in the database, and adds its checks."""

from importlib import import_module
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.db import connections
from django.db.models.signals import post_migrate

from runs.management.benchmarks.known import Benchmark, register


class MonitorsConfig(AppConfig):
    name = "monitors"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        post_migrate.connect(prepare, sender=self, dispatch_uid="monitors.prepare")
        register("pings", Benchmark(module="monitors.management.benchmarks.pings", runs=5000))
        verify = import_module("runs.queries.verify")
        holds = import_module("monitors.queries.verify")
        verify.register_for_database(holds.alerts_hold)
        verify.register_for_database(holds.incidents_hold)
        import_module("monitors.web").register_all()
        _register_retention()
        duties = import_module("runs.engine.duties")
        duties.register("alerts", _alerting)
        duties.register("judge", _judge)
        duties.register("pulse", _pulse)
        if settings.WATCHDOG_URL:
            duties.register("watchdog", _watchdog)


def _register_retention() -> None:
    retention = import_module("runs.engine.retention")
    parts = import_module("monitors.ledger.retention").PARTS
    retention.register(
        *(
            retention.Part(name=name, count=count, remove=remove)
            for name, (count, remove) in parts.items()
        )
    )


def _alerting(**how: Any) -> None:
    import_module("monitors.engine.alerting").Alerting().run(**how)


def _judge(**how: Any) -> None:
    import_module("monitors.engine.judge").run(**how)


def _pulse(**how: Any) -> None:
    import_module("monitors.engine.pulse").run(**how)


def _watchdog(**how: Any) -> None:
    import_module("monitors.engine.watchdog").run(**how)


def prepare(using: str, plan: Any = None, **_more: Any) -> None:
    """Make the function of a ping again after every migration (R20); a flush, which has no plan, takes none."""
    from monitors.ledger import postgresql

    database = connections[using]
    there = "monitors_monitor" in database.introspection.table_names()
    if plan is not None and there and database.vendor == "postgresql":
        postgresql.install(database)
