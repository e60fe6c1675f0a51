"""Runs chosen together: which they are, what would become of each, and what did."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, QuerySet

from runs.models import Call, Run, Selection, SelectionItem, Wait
from runs.queries.limits import allowed_for, deadline_of_run
from runs.queries.plans import plan_by_hash
from runs.queries.verbs import seen_as, stands_with
from runs.queries.visibility import visible_runs, visible_to
from runs.rules.policy import Actor
from runs.rules.states import UNSETTLED_CALLS, RunState, WaitState
from runs.rules.together import (
    Outcome,
    SelectionState,
    Together,
    what_happens_together,
    why_not_together,
)

CHANGED = "It has changed since it was chosen, so it is left alone."
DEADLINE_IS_OVER = (
    "Its deadline is over, so it would stop again at once; give it a longer one alone."
)


class NoSuchSelection(Exception):
    """There is no such selection, or it belongs to a tenant this actor does not see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Foretold:
    """What would become of one run: refused with a sentence, or done with one."""

    item: SelectionItem
    run: Run
    refusal: str
    happens: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One sentence, and for how many runs it is true."""

    sentence: str
    amount: int
    refused: bool


def visible_selection(actor: Actor, selection_id: int) -> Selection:
    found = visible_to(actor, Selection.objects.all()).filter(pk=selection_id).first()
    if found is None:
        raise NoSuchSelection(f"There is no selection {selection_id}.")
    return found


def selections(actor: Actor) -> list[Selection]:
    """The last ones, the newest first."""
    return list(visible_to(actor, Selection.objects.all()).order_by("-pk")[:20])


def items_of(selection: Selection) -> list[SelectionItem]:
    """In the order in which they are done; at most 500."""
    rows = SelectionItem.objects.filter(selection=selection).select_related("run")
    return list(rows.defer("run__input").order_by("pk"))


def counts_of(selection: Selection) -> dict[str, int]:
    """How many were done or refused; those that are left stand under `left`."""
    rows = SelectionItem.objects.filter(selection=selection).order_by().values("outcome")
    found = {row["outcome"]: row["amount"] for row in rows.annotate(amount=Count("pk"))}
    said = {outcome.value: found.get(outcome.value, 0) for outcome in Outcome}
    return {**said, "left": found.get("", 0)}


def foretold(selection: Selection) -> list[Foretold]:
    """What would become of each as it stands now, in few queries for any number of runs."""
    items, verb = items_of(selection), Together(selection.verb)
    ids = [item.run_id for item in items]
    waits = {wait.run_id: wait for wait in _open_waits(ids)}
    grave = grave_calls(ids)
    return [
        _foretold(item, verb, waits.get(item.run_id), grave=grave.get(item.run_id, ()))
        for item in items
    ]


def _foretold(
    item: SelectionItem, verb: Together, wait: Wait | None, *, grave: Sequence[str]
) -> Foretold:
    stands = stands_with(item.run, wait)
    refusal = "" if seen_as(item.run) == item.seen or verb is Together.EXPORT else CHANGED
    refusal = refusal or why_not_together(verb, stands, grave=grave, at_hand=at_hand(item.run))
    if not refusal and verb is Together.RESUME and _stops_again(item.run):
        refusal = DEADLINE_IS_OVER
    happens = "" if refusal else what_happens_together(verb, stands)
    return Foretold(item=item, run=item.run, refusal=refusal, happens=happens)


def _stops_again(run: Run) -> bool:
    if allowed_for(run) is None:
        return False
    deadline = deadline_of_run(run)
    return deadline is not None and deadline.is_over


def _open_waits(run_ids: Iterable[UUID]) -> Iterator[Wait]:
    yield from Wait.objects.filter(run_id__in=list(run_ids), state=WaitState.OPEN.value)


def grave_calls(run_ids: Iterable[UUID]) -> dict[UUID, list[str]]:
    """By run: calls that cannot be undone, of which nobody knows whether they happened (I6)."""
    states = [state.value for state in UNSETTLED_CALLS]
    rows = Call.objects.filter(
        run_id__in=list(run_ids), state__in=states, unsent=False, irreversible=True
    )
    found = defaultdict(list)
    for run_id, effect, resource in rows.order_by("id").values_list("run_id", "effect", "resource"):
        found[run_id].append(f"{effect} for {resource}")
    return dict(found)


def at_hand(run: Run) -> list[str]:
    """Effects that cannot be undone and may leave at this moment: a worker is in a step with them."""
    if run.state != RunState.RUNNING:
        return []
    step = plan_by_hash(run.plan_id).step(run.step)
    return [effect.name for effect in step.effects if effect.irreversible]


def said_of(rows: Sequence[Foretold]) -> list[Said]:
    """The same sentences counted, what is done before what is refused."""
    counted = Counter((bool(row.refusal), row.refusal or row.happens) for row in rows)
    return [
        Said(sentence=sentence, amount=amount, refused=refused)
        for (refused, sentence), amount in sorted(counted.items(), key=lambda each: each[0][0])
    ]


def still_seen(actor: Actor, run_ids: Sequence[UUID]) -> list[Run]:
    """Those of these runs that the actor sees, in order of their ids, like every batch (R18)."""
    return list(visible_runs(actor).filter(pk__in=list(run_ids)).defer("input").order_by("pk"))


def items_due(*, at_most: int, behind: int = 0) -> list[int]:
    """What is left of selections that are under way, the oldest first, behind one of them."""
    running = SelectionState.RUNNING.value
    rows = SelectionItem.objects.filter(outcome="", selection__state=running, pk__gt=behind)
    return list(rows.order_by("pk").values_list("pk", flat=True)[:at_most])


def never_begun(before: datetime) -> QuerySet[Selection]:
    """Chosen before then, looked at or taken away as a file, and left like that."""
    chosen = SelectionState.CHOSEN.value
    return Selection.objects.filter(state=chosen, at__lt=before).order_by("pk")


def never_begun_amount(before: datetime) -> int:
    return never_begun(before).count()


def who_ordered(item_id: int) -> int | None:
    """The person in whose name this item is done."""
    found: int | None = SelectionItem.objects.values_list("selection__user_id", flat=True).get(
        pk=item_id
    )
    return found
