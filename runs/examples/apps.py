"""Tells Django that the bundled workflows exist, and lets their copies go when they are old."""

from importlib import import_module

from django.apps import AppConfig


class ExamplesConfig(AppConfig):
    name = "runs.examples"
    label = "examples"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Bundled workflows"

    def ready(self) -> None:
        retention = import_module("runs.engine.retention")
        inboxes = import_module("runs.examples.inbox.clearing")
        retention.register(
            retention.Part(name="copied inboxes", count=inboxes.count, remove=inboxes.remove)
        )
