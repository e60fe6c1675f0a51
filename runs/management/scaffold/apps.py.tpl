"""Tells Django that the app `$name` exists."""

from django.apps import AppConfig


class ${class_name}Config(AppConfig):
    name = "$name"
