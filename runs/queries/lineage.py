"""Which runs stand for the same work: what a run restarted, and what restarted it."""

from uuid import UUID

from runs.models import Run
from runs.rules.states import FINAL, RunState, WaitKind, WaitState

MOST_RELATED = 200


def restarts_of(run_id: UUID) -> list[Run]:
    """The runs that were begun in place of this one, the oldest first."""
    return list(Run.objects.filter(restart_of=run_id).order_by("created_at", "id")[:MOST_RELATED])


def waiting_restart(run_id: UUID) -> Run | None:
    """The run that stands ready to take this one's place and has not begun yet."""
    rows = Run.objects.filter(restart_of=run_id, state=RunState.WAITING.value, fence=0)
    return rows.order_by("created_at").first()


def ready_restart(run_id: UUID) -> Run | None:
    """The one of them that waits for nothing but this run's worker: no person is asked any more."""
    rows = Run.objects.filter(restart_of=run_id, state=RunState.WAITING.value, fence=0)
    ready = rows.filter(waits__state=WaitState.OPEN.value, waits__kind=WaitKind.CAPACITY.value)
    return ready.order_by("created_at").first()


def is_unborn(run: Run) -> bool:
    """Whether it stands ready to take another run's place, and has not begun yet."""
    stands = run.state in (RunState.WAITING, RunState.PAUSED)
    return run.restart_of_id is not None and run.fence == 0 and stands


def family_of(run: Run) -> list[UUID]:
    """Every other run that was begun in place of this one, or this one in place of it."""
    first, known = _first(run), {run.pk}
    found: list[UUID] = [] if first == run.pk else [first]
    generation = [first]
    while generation and len(found) < MOST_RELATED:
        rows = Run.objects.filter(restart_of__in=generation).order_by("created_at", "id")
        generation = [one for one in rows.values_list("pk", flat=True) if one not in found]
        found.extend(one for one in generation if one not in known)
    return found


def live_relative(run: Run) -> Run | None:
    """Another run that stands for the same work and has not ended."""
    relatives = Run.objects.filter(pk__in=family_of(run))
    ended = sorted(state.value for state in FINAL)
    return relatives.exclude(state__in=ended).order_by("-created_at").first()


def _first(run: Run) -> UUID:
    current, before = run.pk, run.restart_of_id
    for _ in range(MOST_RELATED):
        if before is None:
            break
        current = before
        before = Run.objects.filter(pk=current).values_list("restart_of", flat=True).first()
    return current


def standing_for(run: Run) -> Run:
    """The run that stands for this one now: itself, or whatever has taken its place."""
    for _ in range(MOST_RELATED):
        if run.state != RunState.SUPERSEDED:
            return run
        after = Run.objects.filter(restart_of=run).exclude(state=RunState.CANCELLED.value)
        successor = after.order_by("created_at", "id").last()
        if successor is None:
            return run
        run = successor
    return run
