"""What dispatch calls above itself: by name, since it may import nothing above itself."""

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from collections.abc import Callable

# RUNS_DISPATCH in the settings replaces single names; tests put a bell of their own there.
DEFAULTS = {
    "work": "runs.tasks.work",
    "enlist": "runs.engine.worker.enlist",
    "delist": "runs.engine.worker.delist",
    "unclaimed": "runs.queries.assignments.oldest_unclaimed_age",
}


def call(hook: str, *args: Any) -> Any:
    """Call what stands behind a hook and hand back its answer."""
    replaced: dict[str, str] = getattr(settings, "RUNS_DISPATCH", {})
    function: Callable[..., Any] = import_string(replaced.get(hook, DEFAULTS[hook]))
    return function(*args)
