"""Damage to selections: which runs were chosen together, and what became of each."""

from typing import Any

from runs.models import Selection, SelectionItem, Tenant
from runs.queries.clock import db_now
from tests.durability.worlds import Damage, World, without_check


def done() -> Any:
    return Selection.objects.filter(state="done")


def its_item() -> Any:
    return SelectionItem.objects.filter(selection__state="done")


def takes_the_time(world: World) -> None:
    with without_check("runs_selection", "selection_has_ended_iff_it_says_when"):
        done().update(ended_at=None)


def takes_the_time_of_a_result(world: World) -> None:
    with without_check("runs_selectionitem", "selection_item_has_an_outcome_iff_it_says_when"):
        its_item().update(at=None)


UNFINISHED = Damage(
    sentence="a selection is done, and one of its runs has no result",
    do=lambda w: its_item().update(outcome="", at=None),
    invariant="I12",
    says=r"Selection \d+ is done, and 1 of its runs have no result",
)

DAMAGES = [
    Damage(
        sentence="one of its runs is gone",
        do=lambda w: its_item().delete(),
        invariant="I12",
        says="was made of 1 runs, and holds 0",
    ),
    Damage(
        sentence="another run is among those that were chosen",
        do=lambda w: SelectionItem.objects.create(selection=done().get(), run_id=w.queued),
        invariant="I12",
        says="was made of 1 runs, and holds 2",
    ),
    Damage(
        sentence="nothing is left to do, and it is still under way",
        do=lambda w: done().update(state="running", ended_at=None),
        invariant="I12",
        says="is under way with nothing left to do",
    ),
    Damage(
        sentence="it was never begun, and something was done",
        do=lambda w: done().update(state="chosen", begun_at=None, ended_at=None),
        invariant="I12",
        says="was never begun, and 1 of its runs have a result",
    ),
    Damage(
        sentence="it is in two states by its times",
        do=takes_the_time,
        invariant="I12",
        says="is done, and its times say otherwise",
    ),
    Damage(
        sentence="it is in two states by who stopped it",
        do=lambda w: done().update(stopped_by="omar"),
        invariant="I12",
        says="is done, and who stopped it says otherwise",
    ),
    Damage(
        sentence="a file of runs was begun",
        do=lambda w: Selection.objects.filter(verb="export").update(
            state="running", begun_at=db_now()
        ),
        invariant="I12",
        says="is running, though it only takes its runs away",
    ),
    Damage(
        sentence="a run was refused without a word",
        do=lambda w: its_item().update(outcome="refused"),
        invariant="I12",
        says="tells half of what became of 1 of its runs",
    ),
    Damage(
        sentence="a result has no time",
        do=takes_the_time_of_a_result,
        invariant="I12",
        says="tells half of what became of 1 of its runs",
    ),
    Damage(
        sentence="its runs are of another tenant",
        do=lambda w: done().update(
            tenant=Tenant.objects.create(slug="elsewhere", name="Elsewhere")
        ),
        invariant="I12",
        says="holds 1 runs of another tenant",
    ),
]
