"""Damage to how a run stands: its waits, events, assignments, files; and to the database itself."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import F

from runs.models import (
    Artifact,
    Assignment,
    Checkpoint,
    Event,
    Judgement,
    Plan,
    Run,
    Tenant,
    Wait,
    Worker,
)
from runs.models.guards import name_of
from runs.queries.clock import db_now
from tests.durability.worlds import Damage, World, replace, waits


def the_open_wait(world: World) -> Any:
    return Wait.objects.filter(run=world.asking, state="open")


WAITS = [
    Damage(
        sentence="a resolved wait has lost its answer",
        do=lambda w: waits(w, step="burn_one").update(answer=None),
        invariant="I13",
        says="is resolved; its answer disagrees",
    ),
    Damage(
        sentence="an answer is changed",
        do=lambda w: replace(waits(w, name="ask colour"), "answer", "blue", "red"),
        invariant="I13",
        says="The answer of decision “ask colour” is not what its digest covers",
    ),
    Damage(
        sentence="an answered decision has no time",
        do=lambda w: waits(w, name="ask colour").update(closed_at=None),
        invariant="I13",
        says="decision “ask colour” is resolved; its end disagrees",
    ),
    Damage(
        sentence="a decision was answered by the clock",
        do=lambda w: waits(w, name="ask colour").update(closed_by="the clock"),
        invariant="I13",
        says="decision “ask colour” was answered by the clock",
    ),
    Damage(
        sentence="a decision has an answer that no clock will let take effect",
        do=lambda w: the_open_wait(w).update(on_due="answer", due_at=None),
        invariant="I13",
        says="has an answer that never takes effect",
    ),
    Damage(
        sentence="an event wait is resolved without its event",
        do=lambda w: Event.objects.update(used_by=None, used_at=None),
        invariant="R14",
        says="event “event paid 7” is resolved and used 0 events",
    ),
    Damage(
        sentence="an event wait used an event of another order",
        do=lambda w: Event.objects.update(correlation_id="8"),
        invariant="R14",
        says="used an event that it did not wait for",
    ),
    Damage(
        sentence="the payload of an event is changed",
        do=lambda w: Event.objects.update(payload='{"sum":13}'),
        invariant="R14",
        says="The payload of event paid .* is not what its digest covers",
    ),
    Damage(
        sentence="an event wait was answered with another payload",
        do=lambda w: Event.objects.update(payload='{"sum":13}'),
        invariant="R14",
        says="event “event paid 7” was answered with another payload",
    ),
    Damage(
        sentence="an event is used and nobody knows when",
        do=lambda w: Event.objects.update(used_at=None),
        invariant="R14",
        says="is used without a wait, or without a time",
    ),
]

STANDING = [
    Damage(
        sentence="a queued run is on no list of work",
        do=lambda w: Assignment.objects.filter(run=w.queued).delete(),
        invariant="I11",
        says="It is queued with 0 claimed and 0 placed assignments and 0 open waits",
    ),
    Damage(
        sentence="a waiting run waits for nothing",
        do=lambda w: the_open_wait(w).update(state="withdrawn"),
        invariant="I11",
        says="It is waiting with 0 claimed and 0 placed assignments and 0 open waits",
    ),
    Damage(
        sentence="a running run has lost its assignment",
        do=lambda w: Assignment.objects.filter(run=w.running).update(state="lost"),
        invariant="I11",
        says="It is running with 0 claimed and 0 placed",
    ),
    Damage(
        sentence="an ended run still waits",
        do=lambda w: waits(w, name="ask colour").update(state="open"),
        invariant="I10",
        says="It is succeeded with 0 claimed and 0 placed assignments and 1 open waits",
    ),
    Damage(
        sentence="a failed run does not say why",
        do=lambda w: Run.objects.filter(pk=w.failed).update(reason=""),
        invariant="I11",
        says="It is failed without a reason",
    ),
    Damage(
        sentence="a run is held by a worker that is long gone",
        do=lambda w: Worker.objects.filter(runs=w.running).update(
            state="lost", ended_at=db_now() - timedelta(minutes=5)
        ),
        invariant="I11",
        says="It runs on a worker that is lost since",
    ),
    Damage(
        sentence="a run is in other hands than its assignment says",
        do=lambda w: Assignment.objects.filter(run=w.running).update(
            worker=Worker.objects.exclude(runs=w.running).first()
        ),
        invariant="I3",
        says="It runs in other hands than its assignment says",
    ),
    Damage(
        sentence="a run's fence is not that of its assignment",
        do=lambda w: Run.objects.filter(pk=w.running).update(fence=F("fence") + 1),
        invariant="I3",
        says="Its fence is 2, and that of its claimed assignment 1",
    ),
    Damage(
        sentence="a wait is open in another step than the run's",
        do=lambda w: the_open_wait(w).update(step="judge"),
        invariant="I11",
        says="It stands at purchase and waits in judge",
    ),
    Damage(
        sentence="a sleep has no end",
        do=lambda w: Wait.objects.filter(run=w.sleeping).update(due_at=None),
        invariant="I11",
        says="Nothing will ever close the timer sleep an hour",
    ),
    Damage(
        sentence="a judgement has a fence that the run never reached",
        do=lambda w: Judgement.objects.filter(run=w.whole).update(fence=99),
        invariant="I3",
        says="A Judgement has the fence 99; the run's newest is 7",
    ),
    Damage(
        sentence="the fences of the claims do not rise",
        do=lambda w: Assignment.objects.filter(run=w.whole, fence=2).update(fence=70),
        invariant="I3",
        says=r"The fences of its claims do not rise: \[1, 70, 3",
    ),
]

DATABASE = [
    Damage(
        sentence="the guards are gone",
        do=lambda w: None,
        invariant="R20",
        says=f"The guard {name_of('runs_call', 'INSERT')} is missing; `manage.py migrate`",
    ),
    Damage(
        sentence="a stored plan is changed",
        do=lambda w: replace(
            Plan.objects.filter(workflow="whole"), "body", '"key":"judge"', '"key":"jury"'
        ),
        invariant="I9",
        says="The plan of whole version 1 is not what its hash covers",
    ),
    Damage(
        sentence="a stored plan cannot be read",
        do=lambda w: Plan.objects.filter(workflow="nap").update(body="{}"),
        invariant="I9",
        says="The plan of nap version 1 is not what its hash covers",
    ),
    Damage(
        sentence="a checkpoint is of a run that is not there",
        do=lambda w: Checkpoint.objects.filter(run=w.whole, number=1).update(run_id=UUID(int=1)),
        invariant="I12",
        says=r"There is a checkpoint \(\d+\) of a run that is not there",
    ),
    Damage(
        sentence="a tenant's chain has lost its end",
        do=lambda w: Tenant.objects.update(seq=F("seq") + 1),
        invariant="R37",
        says=r"Tenant default names event \d+ as its last one; it is \d+",
    ),
]

FILES = [
    Damage(
        sentence="a file is gone",
        do=lambda w: Artifact.objects.update(path="nowhere/report.txt"),
        invariant="I14",
        says="The file report.txt of listen is gone",
    ),
    Damage(
        sentence="a file has other bytes",
        do=lambda w: Artifact.objects.update(digest="0" * 64),
        invariant="I14",
        says="The file report.txt of listen is not what its digest covers",
    ),
]

DAMAGES = [*WAITS, *STANDING, *DATABASE, *FILES]
