"""A healthy database with a run in every state, and ways to damage it that are rolled back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.core.management import call_command
from django.db import connection, transaction

from runs.definition import gates, registry
from runs.engine import identity
from runs.engine.worker import known_plans
from runs.ledger import assignments, noting, selecting, workers
from runs.models import Selection, SelectionItem, Wait
from runs.rules.together import Together
from tests.durability import whole_runs
from tests.support import runs


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The ids of its runs, named by how they stand."""

    whole: UUID
    asking: UUID
    sleeping: UUID
    failed: UUID
    cancelled: UUID
    running: UUID
    queued: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """What was done to the database, in words; which invariant is then named, and how."""

    sentence: str
    do: Callable[[World], object]
    invariant: str
    says: str


@contextmanager
def a_world() -> Iterator[World]:
    """Built once for many tests, which leave it as they found it; emptied at the end."""
    desk = gates.gate_for("decision") if "decision" in gates.registered() else gates.Quiet()
    gates.register("decision", gates.Quiet())
    try:
        with registry.isolated():
            whole_runs.a_whole_workflow()
            yield _built()
    finally:
        gates.register("decision", desk)
        call_command("flush", verbosity=0, interactive=False)
        connection.close()


def _built() -> World:
    whole = whole_runs.a_whole_run()
    asking = whole_runs.a_run_that_asks_for_payments()
    _note_and_withdraw(asking)
    cancelled = whole_runs.a_run_that_asks_for_payments()
    _cancel_together(cancelled)
    sleeping, failed = runs.a_run(whole_runs.a_nap()), runs.a_run(whole_runs.a_failure())
    runs.drain()
    return World(
        whole=whole,
        asking=asking,
        sleeping=sleeping,
        failed=failed,
        cancelled=cancelled,
        running=_in_hands(runs.a_run("whole")),
        queued=runs.a_run("whole"),
    )


def _note_and_withdraw(run_id: UUID) -> None:
    actor = runs.the_operator()
    kept = noting.note(actor, run_id, text="Who asked for these?")
    noting.withdraw(actor, run_id, kept.pk)


def _cancel_together(run_id: UUID) -> None:
    """By a selection, which is done then; another one is only chosen."""
    actor = runs.the_operator()
    for verb in (Together.CANCEL, Together.EXPORT):
        selecting.choose(actor, [run_id], verb=verb, asked_for="")
    selecting.begin(actor, Selection.objects.get(verb="cancel").pk, because="not wanted")
    assert selecting.do(actor, SelectionItem.objects.get(selection__verb="cancel").pk)


def _in_hands(run_id: UUID) -> UUID:
    """Claimed by a worker that lives and does nothing."""
    worker_id = uuid4()
    workers.enlist(worker_id, identity.of_this_process(), cluster_pid=0, release="")
    claimed = assignments.claim(worker_id=worker_id, plans=known_plans())
    assert claimed is not None
    assert claimed.fence.run_id == run_id
    return run_id


@contextmanager
def damaged(damage: Damage, world: World) -> Iterator[None]:
    """The database after the damage, its guards gone; afterwards as before."""
    with transaction.atomic():
        runs.without_guards()
        damage.do(world)
        yield
        transaction.set_rollback(True)


@contextmanager
def without_check(table: str, constraint: str) -> Iterator[None]:
    """Let rows in that a CHECK of the table refuses."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {constraint}")
            yield
            return
        cursor.execute("PRAGMA ignore_check_constraints = ON")
        yield
        cursor.execute("PRAGMA ignore_check_constraints = OFF")


def waits(world: World, **which: Any) -> Any:
    return Wait.objects.filter(run=world.whole, **which)


def replace(rows: Any, column: str, old: str, new: str) -> None:
    for row in rows:
        text = getattr(row, column)
        assert old in text, text
        rows.model.objects.filter(pk=row.pk).update(**{column: text.replace(old, new)})
