"""Is this process alive, and can the service do its work? Asked by machines, open to all."""

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse

from runs.queries.pages_shell import engine_state


@login_not_required
def process(request: HttpRequest) -> JsonResponse:
    """This process answers; nothing else is asked, so that a lost database restarts nobody."""
    return JsonResponse({"ok": True})


@login_not_required
def service(request: HttpRequest) -> JsonResponse:
    """Database, tables, clockwork and workers; 503 with the first trouble while one is missing."""
    trouble = _trouble()
    return JsonResponse({"ok": not trouble, "trouble": trouble}, status=503 if trouble else 200)


def _trouble() -> str:
    try:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return "The tables are older than the code: run manage.py migrate."
        return engine_state().trouble
    except DatabaseError:
        return "The database does not answer."
