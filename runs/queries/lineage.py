"""Which runs stand for the same work: what a run restarted, and what restarted it."""

from uuid import UUID

from django.db.models import Q

from runs.models import Run, Wait
from runs.rules import canonical
from runs.rules.states import FINAL, RunState, WaitKind, WaitState

MOST_RELATED = 200
# Under which name the wait of a run that stands ready keeps whose letting go it waits for.
LETS_GO = "lets_go"


def restarts_of(run_id: UUID) -> list[Run]:
    """The runs that were begun in place of this one, the oldest first."""
    return list(Run.objects.filter(restart_of=run_id).order_by("created_at", "id")[:MOST_RELATED])


def waiting_restart(run_id: UUID) -> Run | None:
    """The run that stands ready to take this one's place and has not begun yet."""
    rows = Run.objects.filter(restart_of=run_id, state=RunState.WAITING.value, fence=0)
    return rows.order_by("created_at").first()


def ready_restart(run_id: UUID) -> Run | None:
    """The one of them that waits for nothing but this run's worker: no person is asked any more.

    Also one that was begun in place of another run, and takes this one's place as well.
    """
    ready = Run.objects.filter(
        Q(restart_of=run_id) | Q(waits__subject__contains=str(run_id)),
        restart_of__isnull=False,
        state=RunState.WAITING.value,
        fence=0,
        waits__state=WaitState.OPEN.value,
        waits__kind=WaitKind.CAPACITY.value,
    )
    return ready.order_by("created_at").first()


def still_held(new: Run, *, besides: Run) -> bool:
    """Whether another run whose place this one takes is in a worker's hands, and asked to let go."""
    others = Run.objects.filter(pk__in=predecessors(new)).exclude(pk=besides.pk)
    return others.filter(state=RunState.RUNNING.value, cancel_requested=True).exists()


def still_open(new: Run) -> Run | None:
    """One whose place this run was to take, and that has neither ended nor failed."""
    over = sorted(state.value for state in (*FINAL, RunState.FAILED))
    return Run.objects.filter(pk__in=predecessors(new)).exclude(state__in=over).first()


def have_made_room(new: Run) -> bool:
    """Whether any run was superseded by this one before it began."""
    named = predecessors(new)
    return Run.objects.filter(pk__in=named, state=RunState.SUPERSEDED.value).exists()


def predecessors(new: Run) -> list[str]:
    """Whose place a run takes that stands ready still."""
    wait = Wait.objects.filter(
        run=new, state=WaitState.OPEN.value, kind=WaitKind.CAPACITY.value
    ).first()
    told = canonical.loads(wait.subject) if wait else {}
    return list(told.get(LETS_GO, []))


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
