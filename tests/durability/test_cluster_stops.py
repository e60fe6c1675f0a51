"""A cluster that is told to stop hands its work on and ends soon, however it is told."""

import os
import signal
import time
from collections.abc import Callable

import pytest

from runs.dispatch.sentinel import CRASHED
from tests.durability.belfry import Belfry
from tests.support.programs import CLUSTER_WORKERS, Program, Site

Tell = Callable[[Program, signal.Signals], None]
pytestmark = pytest.mark.processes


@pytest.fixture
def belfry(site: Site) -> Belfry:
    return Belfry(site=site)


def to_main(cluster: Program, number: signal.Signals) -> None:
    os.kill(cluster.pid, number)


def to_group(cluster: Program, number: signal.Signals) -> None:
    os.killpg(cluster.pid, number)


# So long a grace that nobody waits for its end: whoever ends within the test's patience did not.
LONG = 600.0
TOLD = [
    pytest.param(to_main, signal.SIGTERM, id="SIGTERM to main"),
    pytest.param(to_group, signal.SIGTERM, id="SIGTERM to the group"),
    pytest.param(to_group, signal.SIGINT, id="SIGINT to the group"),
    pytest.param(to_group, signal.SIGHUP, id="SIGHUP to the group"),
]


@pytest.mark.parametrize(("tell", "number"), TOLD)
def test_an_idle_cluster_stops_at_once(belfry: Belfry, tell: Tell, number: signal.Signals) -> None:
    cluster = belfry.cluster(grace=LONG)

    tell(cluster, number)

    assert cluster.ended() == 0
    belfry.site.leaves_nothing()
    assert len(belfry.seen("delisted")) == CLUSTER_WORKERS


@pytest.mark.parametrize(("tell", "number"), TOLD)
def test_a_busy_cluster_hands_its_work_on_and_starts_nothing_new(
    belfry: Belfry, tell: Tell, number: signal.Signals
) -> None:
    cluster, begun = belfry.cluster(grace=LONG), 1 + CLUSTER_WORKERS
    for _ in range(10):
        belfry.place("long")
    belfry.eventually(lambda: len(belfry.seen("started")) == begun, "all workers are busy")

    tell(cluster, number)
    code = cluster.ended()

    assert code == 0
    assert len(belfry.seen("started")) == begun
    assert len(belfry.seen("handed_on")) == CLUSTER_WORKERS
    belfry.site.leaves_nothing()
    belfry.start()
    for handed_on in belfry.seen("handed_on"):
        belfry.wait_for("finished", handed_on.job)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_while_it_starts_it_stops_as_well(belfry: Belfry, number: signal.Signals) -> None:
    cluster = belfry.start(grace=LONG)
    belfry.eventually(lambda: belfry.seen("enlisted"), "the first worker is there")

    to_group(cluster, number)

    assert cluster.ended() == 0
    belfry.site.leaves_nothing()


def test_a_step_that_hears_nothing_is_killed_after_the_grace(belfry: Belfry) -> None:
    cluster = belfry.cluster(grace=1)
    belfry.wait_for("started", belfry.place("stubborn"))

    told = time.monotonic()
    to_main(cluster, signal.SIGTERM)

    assert cluster.ended() == CRASHED
    assert time.monotonic() - told >= 1
    belfry.site.leaves_nothing()


def test_asked_twice_it_does_not_wait_for_the_grace(belfry: Belfry) -> None:
    cluster = belfry.cluster(grace=LONG)
    belfry.wait_for("started", belfry.place("stubborn"))

    to_main(cluster, signal.SIGINT)
    belfry.eventually(lambda: "cluster.stopping" in cluster.said(), "it has heard the first")
    to_main(cluster, signal.SIGINT)

    assert cluster.ended() == CRASHED
    belfry.site.leaves_nothing()
