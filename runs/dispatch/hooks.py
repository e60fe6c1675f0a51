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


def name_of(hook: str) -> str:
    """The dotted name of what stands behind a hook."""
    replaced: dict[str, str] = getattr(settings, "RUNS_DISPATCH", {})
    return replaced.get(hook, DEFAULTS[hook])


def call(hook: str) -> Any:
    """Call what stands behind a hook and hand back its answer."""
    function: Callable[[], Any] = import_string(name_of(hook))
    return function()
