"""Damage to a run's record: its chain, its audit line, its checkpoints, its steps."""

from typing import Any
from uuid import UUID

from runs.models import AuditEvent, Checkpoint, Run, Step
from tests.durability.worlds import Damage, World

OTHER = "0" * 64


def events(run_id: UUID, **which: Any) -> Any:
    return AuditEvent.objects.filter(run=run_id, **which)


def the_last(run_id: UUID) -> Any:
    return events(run_id, seq=Run.objects.get(pk=run_id).seq)


def steps(run_id: UUID, key: str) -> Any:
    return Step.objects.filter(run=run_id, key=key)


def checkpoints(world: World, **which: Any) -> Any:
    return Checkpoint.objects.filter(run=world.whole, **which)


CHAIN = [
    Damage(
        sentence="an event is deleted",
        do=lambda w: events(w.whole, seq=5).delete(),
        invariant="I12",
        says="event 5 is missing: the next one there is 6",
    ),
    Damage(
        sentence="the body of an event is changed",
        do=lambda w: events(w.whole, kind="run.started").update(body='{"reference":"another"}'),
        invariant="I12",
        says=r"the body of event 1 \(run.started\) is not what its digest covers",
    ),
    Damage(
        sentence="who did it is changed",
        do=lambda w: events(w.whole, kind="run.started").update(actor="somebody else"),
        invariant="I12",
        says=r"event 1 \(run.started\) is not what its hash covers",
    ),
    Damage(
        sentence="an event is tied to another one",
        do=lambda w: events(w.whole, seq=7).update(prev=OTHER),
        invariant="I12",
        says=r"event 7 \(.*\) names another event before it",
    ),
    Damage(
        sentence="the last event is deleted",
        do=lambda w: the_last(w.asking).delete(),
        invariant="R36",
        says=r"names event \d+ as the last one of its chain; it is \d+",
    ),
    Damage(
        sentence="the run's row names another head",
        do=lambda w: Run.objects.filter(pk=w.queued).update(head=OTHER),
        invariant="R36",
        says="names event 1 as the last one",
    ),
    Damage(
        sentence="an event has a fence that the run never reached",
        do=lambda w: Run.objects.filter(pk=w.whole).update(fence=1),
        invariant="I3",
        says=r"Event \d+ \(.*\) has the fence 2, above the run's",
    ),
    Damage(
        sentence="a run has an event after its end",
        do=lambda w: Run.objects.filter(pk=w.whole).update(
            ended_at=Run.objects.get(pk=w.whole).created_at
        ),
        invariant="I10",
        says=r"Event \d+ \(audit.line\) is later than the run's end",
    ),
    Damage(
        sentence="the chain of an ended run has lost its audit line",
        do=lambda w: the_last(w.whole).delete(),
        invariant="R37",
        says="closes with run.succeeded, not with the audit line",
    ),
]

LINE = [
    Damage(
        sentence="a run asks somebody and has no audit line",
        do=lambda w: events(w.asking, kind="audit.line").delete(),
        invariant="I12",
        says="It is waiting without an audit line",
    ),
    Damage(
        sentence="the audit line says another state",
        do=lambda w: Run.objects.filter(pk=w.failed).update(state="paused"),
        invariant="I12",
        says="The audit line says failed, the run is paused",
    ),
    Damage(
        sentence="a step's row says other than the audit line",
        do=lambda w: steps(w.whole, "judge").update(attempt=9),
        invariant="I12",
        says="The audit line's steps are not those of the tables: judge differs",
    ),
    Damage(
        sentence="a step of the audit line is gone",
        do=lambda w: steps(w.asking, "purchase").delete(),
        invariant="I12",
        says="steps are not those of the tables: it names 3, there are 2",
    ),
]

CHECKPOINTS = [
    Damage(
        sentence="a checkpoint is deleted",
        do=lambda w: checkpoints(w, number=2).delete(),
        invariant="I8",
        says="Checkpoint 2 is missing before 3",
    ),
    Damage(
        sentence="the run's row names another checkpoint",
        do=lambda w: Run.objects.filter(pk=w.whole).update(checkpoint=99),
        invariant="I8",
        says=r"The run's row names checkpoint 99; the last is \d+",
    ),
    Damage(
        sentence="a cursor goes back",
        do=lambda w: checkpoints(w, number=3).update(cursor_ordinal=1),
        invariant="I8",
        says="Checkpoint 3 takes the cursor of step judge back",
    ),
    Damage(
        sentence="a checkpoint has a fence out of its order",
        do=lambda w: checkpoints(w, number=1).update(fence=5),
        invariant="I3",
        says="Checkpoint 2 has the fence 1, out of its order",
    ),
    Damage(
        sentence="a checkpoint was written under another plan",
        do=lambda w: checkpoints(w, number=1).update(plan_hash=OTHER),
        invariant="I9",
        says="Checkpoint 1 was written under another plan",
    ),
    Damage(
        sentence="a checkpoint names another result",
        do=lambda w: checkpoints(w, step="propose", finished=True).update(output_digest=OTHER),
        invariant="I1",
        says=r"Checkpoint \d+ names another result of step propose",
    ),
    Damage(
        sentence="a checkpoint counts more keys than were accepted",
        do=lambda w: checkpoints(w, number=1).update(keys_count=7),
        invariant="R39",
        says="Checkpoint 1 counts 7 completed keys; .* are 2",
    ),
    Damage(
        sentence="the digest of the completed keys is another",
        do=lambda w: checkpoints(w, number=1).update(keys_digest=OTHER),
        invariant="R39",
        says="Checkpoint 1 counts 2 completed keys; .* are 2, or their digest is another",
    ),
]

STEPS = [
    Damage(
        sentence="a step has no current result",
        do=lambda w: steps(w.whole, "propose").update(superseded=True),
        invariant="I1",
        says="Step propose has 0 current results",
    ),
    Damage(
        sentence="the facts of a finished step are changed",
        do=lambda w: steps(w.whole, "judge").update(facts='{"judged":6}'),
        invariant="I1",
        says="The facts of step judge are not what their digest covers",
    ),
    Damage(
        sentence="a finished step has a fact that its plan does not write",
        do=lambda w: steps(w.whole, "burn_one").update(facts='{"more":1}'),
        invariant="I1",
        says=r"Step burn_one wrote \['more'\], and its plan says \[\]",
    ),
    Damage(
        sentence="a step was finished twice",
        do=lambda w: checkpoints(w, number=1).update(finished=True),
        invariant="I2",
        says="Step judge is succeeded and has 2 finishing checkpoints",
    ),
    Damage(
        sentence="a finished step is made to look unfinished",
        do=lambda w: steps(w.asking, "judge").update(state="failed"),
        invariant="I2",
        says="Step judge is failed, and a later one has begun",
    ),
    Damage(
        sentence="a step was passed over",
        do=lambda w: steps(w.whole, "propose").delete(),
        invariant="I2",
        says="one was passed over",
    ),
    Damage(
        sentence="a run succeeded before all steps were done",
        do=lambda w: steps(w.whole, "listen").delete(),
        invariant="I2",
        says="The run stands at listen, which has not begun",
    ),
    Damage(
        sentence="a succeeded run has a step that is not",
        do=lambda w: steps(w.whole, "listen").update(state="failed"),
        invariant="I11",
        says="The run is succeeded and stands at a failed step listen",
    ),
    Damage(
        sentence="a step has another scope for its keys than the plan",
        do=lambda w: steps(w.whole, "judge").update(scope="other"),
        invariant="I9",
        says="Step judge is not in its run's plan at this place",
    ),
    Damage(
        sentence="a run says that it is of another version",
        do=lambda w: Run.objects.filter(pk=w.queued).update(version=2),
        invariant="I9",
        says="The run says whole version 2, its plan another workflow",
    ),
    Damage(
        sentence="a run's input is changed",
        do=lambda w: Run.objects.filter(pk=w.queued).update(input='{"count":6}'),
        invariant="I5",
        says="The run's input is not what its digest covers",
    ),
]

DAMAGES = [*CHAIN, *LINE, *CHECKPOINTS, *STEPS]
