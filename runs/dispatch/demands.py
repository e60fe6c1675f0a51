"""What the cluster demands of Q_CLUSTER: with other values django-q2 runs steps twice or saves them."""

from collections.abc import Callable
from typing import Any

from django.apps import apps
from django_q.conf import Conf

DEMANDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "QUEUE_LIMIT": (lambda said: said == 1, "queue_limit must be 1: no work waits in a queue."),
    "BULK": (lambda said: said == 1, "bulk must be 1: no work waits in a queue."),
    "SAVE_LIMIT": (lambda said: said == -1, "save_limit must be -1: runs keep their own record."),
    "SCHEDULER": (lambda said: said is False, "scheduler must be False: watch keeps the time."),
    "SYNC": (lambda said: not said, "sync must be off: work belongs into the cluster."),
    "RECYCLE": (lambda said: bool(said), "recycle must be set, or memory grows."),
    "TIMEOUT": (
        lambda said: isinstance(said, int) and said >= 3600,
        "timeout must be whole seconds, an hour or more: steps have limits of their own.",
    ),
    "RETRY": (
        lambda said: bool(Conf.TIMEOUT) and said > 2 * Conf.TIMEOUT,
        "retry must be more than twice timeout, or work is rung twice while it runs.",
    ),
    "BROKER_CLASS": (
        lambda said: str(said).startswith("runs.dispatch.brokers."),
        "broker_class must be one of runs.dispatch.brokers.",
    ),
}


def unmet() -> list[str]:
    """One sentence for each setting that will not do."""
    wrong = [
        f"Q_CLUSTER: {says}"
        for name, (holds, says) in DEMANDS.items()
        if not holds(getattr(Conf, name))
    ]
    if apps.is_installed("django.contrib.admin"):
        wrong.append(
            "django.contrib.admin offers django-q2's action that puts an old task back into the "
            "queue; take it out of INSTALLED_APPS."
        )
    return wrong
