"""Tells Django that the bundled workflows exist."""

from django.apps import AppConfig


class ExamplesConfig(AppConfig):
    name = "runs.examples"
    label = "examples"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Bundled workflows"
