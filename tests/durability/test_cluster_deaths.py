"""Kill -9 any process of a cluster: it goes on or starts again, new work runs, nothing is left over."""

import random
import signal
import time

import psutil
import pytest

from runs.dispatch.sentinel import CRASHED
from tests.durability.belfry import Belfry, kill, kill_an_idle, the, those
from tests.support.programs import CLUSTER_WORKERS, Site

pytestmark = pytest.mark.processes
ROLES = ["worker", "pusher", "monitor", "sentinel", "main"]
# Busy ones die in test_cluster_runs too, with real runs; here two of them do.
SAMPLED = [
    pytest.param(role, marks=() if role in ("worker", "sentinel") else pytest.mark.long)
    for role in ROLES
]
FAMILY = 4 + CLUSTER_WORKERS  # main, sentinel, pusher, monitor


@pytest.fixture
def belfry(site: Site) -> Belfry:
    return Belfry(site=site)


@pytest.mark.parametrize("role", ROLES)
def test_after_an_idle_process_is_killed_new_work_runs_and_nothing_is_left(
    belfry: Belfry, role: str
) -> None:
    cluster = belfry.cluster()
    before = {one.pid for one in belfry.site.processes()}

    kill_an_idle(belfry.site, role)
    code = cluster.ended()
    belfry.site.leaves_nothing()
    restarted = belfry.comes_to_rest(belfry.new_work_runs(cluster), processes=FAMILY)

    assert code == (-signal.SIGKILL if role == "main" else CRASHED)
    assert not before & {one.pid for one in belfry.site.processes()}
    assert restarted.stop() == 0
    belfry.site.leaves_nothing()


@pytest.mark.parametrize("role", SAMPLED)
def test_after_a_busy_cluster_loses_a_process_new_work_runs_and_nothing_is_left(
    belfry: Belfry, role: str
) -> None:
    cluster = belfry.cluster()
    busy = belfry.wait_for("started", belfry.place("long"))

    victim = busy.pid if role == "worker" else the(belfry.site, role).pid
    kill(psutil.Process(victim))
    restarted = belfry.comes_to_rest(belfry.new_work_runs(cluster), processes=FAMILY)

    assert belfry.codes == {"worker": [], "main": [-signal.SIGKILL]}.get(role, [CRASHED])
    assert restarted.stop() == 0
    belfry.site.leaves_nothing()


def test_every_worker_can_be_killed_while_it_works_and_the_cluster_stays(belfry: Belfry) -> None:
    cluster = belfry.cluster()

    for _ in range(4):
        busy = belfry.wait_for("started", belfry.place("long"))
        kill(psutil.Process(busy.pid))
    belfry.new_work_runs(cluster)

    whole = CLUSTER_WORKERS
    belfry.eventually(lambda: len(those(belfry.site, "worker")) == whole, "all are replaced")
    assert cluster.process.poll() is None
    assert cluster.stop() == 0


def test_a_crash_gives_busy_workers_time_to_reach_a_checkpoint(belfry: Belfry) -> None:
    cluster = belfry.cluster()
    job = belfry.place("long")
    belfry.wait_for("started", job)

    kill(the(belfry.site, "monitor"))

    assert cluster.ended() == CRASHED
    assert belfry.seen("handed_on", job), "R28: it was to be interrupted, not crashed"
    belfry.site.leaves_nothing()


def test_what_a_step_started_dies_with_its_worker(belfry: Belfry) -> None:
    cluster = belfry.cluster()
    job = belfry.place("family")
    worker = belfry.wait_for("started", job).pid
    belfry.eventually(lambda: belfry.seen("obeyed"), "a step can stop its own child")
    belfry.eventually(lambda: len(belfry.site.processes()) == FAMILY + 3, "it has three")

    kill(psutil.Process(worker))

    belfry.eventually(lambda: len(belfry.site.processes()) == FAMILY, "all three children are gone")
    assert cluster.process.poll() is None
    assert cluster.stop() == 0


@pytest.mark.parametrize("role", ["sentinel", "main"])
def test_what_a_step_started_dies_with_the_cluster(belfry: Belfry, role: str) -> None:
    cluster = belfry.cluster()
    belfry.wait_for("started", belfry.place("family"))
    belfry.eventually(lambda: belfry.seen("obeyed"), "the step has started its children")

    kill(the(belfry.site, role))

    cluster.ended()
    belfry.site.leaves_nothing()


def test_what_a_cluster_left_that_was_killed_at_one_blow_the_next_one_ends(belfry: Belfry) -> None:
    cluster = belfry.cluster()
    belfry.wait_for("started", belfry.place("family"))
    belfry.eventually(lambda: belfry.seen("obeyed"), "the step has started its children")

    for one in [
        the(belfry.site, "sentinel"),
        *those(belfry.site, "worker"),
        the(belfry.site, "main"),
    ]:
        one.suspend()
    for role in ("main", "sentinel"):
        kill(the(belfry.site, role))
    cluster.ended()
    restarted = belfry.new_work_runs(cluster)

    restarted = belfry.comes_to_rest(restarted, processes=FAMILY)
    assert restarted.stop() == 0


def test_a_cluster_whose_sentinel_was_stopped_when_main_died_is_ended_by_the_next(
    belfry: Belfry,
) -> None:
    cluster = belfry.cluster()
    the(belfry.site, "sentinel").suspend()
    kill(the(belfry.site, "main"))
    cluster.ended()

    successor = belfry.start()

    belfry.eventually(lambda: "cluster.running" in successor.said(), "the next one runs")
    belfry.new_work_runs(successor)
    belfry.comes_to_rest(successor, processes=FAMILY)


@pytest.mark.parametrize("frozen", ["pusher", "worker", "sentinel"])
def test_a_frozen_cluster_ends_by_itself_and_its_successor_works(
    belfry: Belfry, frozen: str
) -> None:
    """How soon is counted by `Silence`: test_cluster_demands."""
    cluster = belfry.cluster(workers=1)
    the(belfry.site, frozen).suspend()

    job = belfry.place()
    if frozen == "sentinel":  # the others work without it; it is missed when somebody dies
        belfry.wait_for("finished", job)
        kill(the(belfry.site, "worker"))
        job = belfry.place()
    belfry.eventually(lambda: "cluster.crashing" in cluster.said(), "it is noticed")
    assert cluster.ended() == CRASHED
    belfry.site.leaves_nothing()
    belfry.new_work_runs(cluster)

    belfry.wait_for("finished", job)


def test_work_that_waits_without_a_bell_is_found_and_is_no_reason_to_end(belfry: Belfry) -> None:
    cluster = belfry.cluster()

    job = belfry.place(ring=False)

    belfry.wait_for("finished", job)
    assert cluster.process.poll() is None


def test_a_step_that_keeps_no_limit_is_killed_and_its_worker_replaced(belfry: Belfry) -> None:
    cluster = belfry.cluster()

    stuck = belfry.wait_for("started", belfry.place("limited"))
    belfry.eventually(
        lambda: stuck.pid not in {one.pid for one in belfry.site.processes()},
        "it is killed",
    )
    belfry.new_work_runs(cluster)

    assert cluster.process.poll() is None
    whole = CLUSTER_WORKERS
    belfry.eventually(lambda: len(those(belfry.site, "worker")) == whole, "it is replaced")


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(3))
def test_random_kills_among_constant_work_never_freeze_it(belfry: Belfry, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    cluster = belfry.cluster()

    for _ in range(40):
        for _ in range(chance.randrange(40)):
            belfry.place(chance.choice(["nothing", "nothing", "long"]))
            time.sleep(chance.uniform(0, 0.01))
        victims = [one for role in ROLES for one in those(belfry.site, role)]
        if victims:
            kill(chance.choice(victims))
        belfry.forget_what_is_placed()
        cluster = belfry.new_work_runs(cluster)

    cluster = belfry.comes_to_rest(cluster, processes=FAMILY)
    assert cluster.stop() == 0
    belfry.site.leaves_nothing()
