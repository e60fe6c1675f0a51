"""Names each commit, so that a rehearsal can end its process right behind it; inert otherwise."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from django.db import transaction

from runs.rules.crash_points import Point

Asked = ParamSpec("Asked")
Answered = TypeVar("Answered")
Listener = Callable[..., object]

_listener: Listener | None = None


def listen(listener: Listener | None) -> None:
    """Have `listener(point, step=..., run=...)` called behind every commit; None ends that."""
    global _listener
    _listener = listener


def commits(
    point: Point, *, when: Callable[[Any], object] = lambda _answer: True
) -> Callable[[Callable[Asked, Answered]], Callable[Asked, Answered]]:
    """This function makes one commit, which is called `point` where its answer says it was made."""

    def name(function: Callable[Asked, Answered]) -> Callable[Asked, Answered]:
        @wraps(function)
        def named(*args: Asked.args, **kwargs: Asked.kwargs) -> Answered:
            answer = function(*args, **kwargs)
            if _listener is not None and when(answer):
                reached(point, **_whose(args, kwargs, answer))
            return answer

        return named

    return name


def reached(point: Point, *, step: str = "", run: str = "") -> None:
    """The same for a commit in the middle of a function; inside a transaction, behind its end."""
    if _listener is not None:
        transaction.on_commit(partial(_listener, point, step=step, run=run))


def _whose(args: tuple[Any, ...], kwargs: dict[str, Any], answer: Any) -> dict[str, str]:
    """The step and the run that were written, where the arguments name them, or a claim does."""
    place, fence = kwargs.get("place"), getattr(answer, "fence", None)
    step = getattr(place, "key", "") or getattr(getattr(answer, "step", None), "key", "")
    first = args[0] if args else None
    run = getattr(first, "run_id", "") or getattr(fence, "run_id", "")
    return {"step": step, "run": str(run) if run else ""}
