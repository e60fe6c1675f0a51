"""Tells Django that the app `runs` exists, and finds the workflows of every installed app."""

from importlib import import_module

from django.apps import AppConfig, apps

from runs.definition import registry


class RunsConfig(AppConfig):
    name = "runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import_module("runs.checks")
        registry.discover(app.name for app in apps.get_app_configs())
