"""Django's check, which also says what is only a warning or a remark about workflows."""

from typing import Any

from django.core.management.commands import check

from runs.checks import everything


class Command(check.Command):
    def handle(self, *app_labels: Any, **options: Any) -> None:
        with everything():
            super().handle(*app_labels, **options)
