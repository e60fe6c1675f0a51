"""Makes this machine ready for `up`: directory, tables, static files, first person, first run."""

from pathlib import Path

from django.core.management import call_command
from django.db import connection


def ready(var: Path) -> None:
    for directory in (var, var / "log", var / "mail", var / "artifacts"):
        directory.mkdir(parents=True, exist_ok=True)
    var.chmod(0o700)
    call_command("migrate", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    connection.close()
