"""Workers are killed at random while a real inbox is sorted; nothing is lost, judged or deleted twice."""

import os
import random
import signal
import time
from pathlib import Path
from uuid import UUID

import pytest

from runs.examples import queries
from runs.examples.inbox import mailbox
from runs.models import Assignment, Call, Checkpoint, Run, Worker
from runs.queries.verify import violations
from tests.inbox import driving
from tests.support.programs import CLUSTER_WORKERS, Site
from tests.support.waiting import eventually

pytestmark = [
    pytest.mark.processes,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(300),
]

REAL = Path(os.environ.get("INBOX_DATA", "../shared/data/inbox.tsv"))


@pytest.fixture
def working_site(site: Site) -> Site:
    """A cluster and the clockwork, started once and left to themselves."""
    site.start("cluster", "--workers", str(CLUSTER_WORKERS), LEASE_SECONDS="15")
    site.start("watch")
    return site


def kill_whoever_works_on(run_id: UUID, *, step: str, after: float) -> bool:
    """SIGKILL to whoever is in the middle of this step; False where they had done it by then."""

    def worked_on() -> Assignment | str:
        run = Run.objects.get(pk=run_id)
        if run.state in ("waiting", "succeeded"):
            return "past"
        held = Assignment.objects.filter(run_id=run_id, state="claimed", worker__state="live")
        return (held.filter(run__step=step).first() if run.step == step else None) or ""

    held = eventually(worked_on, every=0.005, what=f"somebody is at step {step}")
    if isinstance(held, str):
        return False
    time.sleep(after)
    os.kill(Worker.objects.get(assignments=held).pid, signal.SIGKILL)
    eventually(
        lambda: not Assignment.objects.filter(pk=held.pk, state="claimed").exists(),
        what="the clockwork notices the death",
    )
    return Assignment.objects.get(pk=held.pk).state == "lost"


def come_to(state: str, run_id: UUID) -> None:
    def arrived() -> bool:
        found = driving.state_of(run_id)
        assert not found.startswith("failed"), found
        return found.startswith(state)

    eventually(arrived, within=120, what=f"the run is {state}")


@pytest.mark.skipif(not REAL.exists(), reason=f"REAL INBOX MISSING: {REAL} (set INBOX_DATA)")
@pytest.mark.parametrize("seed", [1])
def test_kills_at_any_moment_change_neither_the_judgements_nor_the_deletions(
    working_site: Site, seed: int
) -> None:
    # Where to kill needs no secrecy, only to be repeatable.
    chance = random.Random(seed)  # noqa: S311
    run_id = driving.start("inbox_triage", inbox=str(REAL.resolve()))
    struck = [
        kill_whoever_works_on(run_id, step=step, after=chance.uniform(0.05, 0.3))
        for step in ("prepare", "classify", "classify")
    ]
    come_to("waiting", run_id)
    approved = driving.approve(run_id)
    struck += [
        kill_whoever_works_on(run_id, step="purge", after=chance.uniform(0.05, 1.5))
        for _ in range(2)
    ]
    come_to("succeeded", run_id)

    # Five, where this process was not kept waiting until the step was over.
    assert Assignment.objects.filter(run_id=run_id, state="lost").count() == sum(struck) > 0
    left = mailbox.listing(working_site.var / "inboxes" / str(run_id))
    assert len(left) == 5574 - approved
    assert queries.tally(run_id).messages == 5574
    deletions = Call.objects.filter(run_id=run_id, effect="mailbox.delete")
    assert deletions.filter(state="confirmed").count() == deletions.count() == approved
    pages = Checkpoint.objects.filter(run_id=run_id, step="classify", finished=False)
    cursors = list(pages.order_by("number").values_list("cursor_ordinal", flat=True))
    assert cursors == sorted(cursors)
    assert len(set(cursors)) == len(cursors)
    assert violations() == []
