"""Real runs on a real cluster and watch: whatever is killed, each run comes to its end, and each body ran once."""

import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import pytest
from django.db import transaction

from runs.dispatch import bell
from runs.dispatch.backlog import RING_AFTER
from runs.models import Step
from runs.queries import verify
from tests.durability.belfry import kill, kill_an_idle, the, those
from tests.support import runs
from tests.support.programs import CLUSTER_WORKERS, Program, Site
from tests.support.waiting import eventually

pytestmark = pytest.mark.processes
ROLES = ["worker", "pusher", "monitor", "sentinel", "main"]
# Idle ones die in test_cluster_deaths too, with a stand-in for the engine; here two of them do.
SAMPLED = [
    pytest.param(role, marks=() if role in ("worker", "main") else pytest.mark.long)
    for role in ROLES
]
LONG_COUNT = 40
LONG = {"count": LONG_COUNT, "size": 5, "pause": 0.15}
SHORT = {"count": 5, "size": 5}


class Supervisor:
    """Starts again what ends, as the process manager of `up` does."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.running: dict[str, Program] = {}
        self.workers = 0

    def keep(self, *command: str, workers: int = 0) -> None:
        if workers:
            command = (*command, "--workers", str(workers))
        self.running[" ".join(command)] = self.site.start(*command)
        self.workers += workers

    def look(self) -> None:
        for command, program in self.running.items():
            if program.process.poll() is not None:
                self.running[command] = self.site.start(*command.split())

    def until_succeeded(self, run_id: UUID) -> None:
        def done() -> bool:
            self.look()
            return runs.state_of(run_id) == "succeeded"

        try:
            eventually(done, what=f"{run_id} succeeds", every=0.05)
        except AssertionError as late:
            logs = "\n".join(program.said()[-3000:] for program in self.site.programs)
            raise AssertionError(f"{late}\n{runs.state_of(run_id)}\n{logs}") from None

    def stop(self) -> None:
        """Stops all at once, as soon as each is whole: whoever crashed has been started again."""
        eventually(self._are_whole, what="every cluster and the watch are whole")
        for command, program in self.running.items():
            program.says("cluster.running" if command.startswith("cluster") else "")
        for program in self.running.values():
            program.process.terminate()
        for program in self.running.values():
            assert program.ended() == 0

    def _are_whole(self) -> bool:
        self.look()
        clusters = [each for each in self.running if each.startswith("cluster")]
        whole = [len(those(self.site, role)) == len(clusters) for role in ROLES if role != "worker"]
        whole.append(len(those(self.site, "worker")) == self.workers)
        return all(whole) and all(program.family() for program in self.running.values())


@contextmanager
def supervised(site: Site, *, workers: int = CLUSTER_WORKERS) -> Iterator[Supervisor]:
    """A cluster and a watch that have shown that they work."""
    supervisor = Supervisor(site)
    supervisor.keep("cluster", "--grace", "60", workers=workers)
    supervisor.keep("watch")
    supervisor.until_succeeded(runs.a_run("example_pages", SHORT))
    yield supervisor
    supervisor.stop()
    site.leaves_nothing()
    assert verify.violations() == []


@pytest.mark.parametrize("role", SAMPLED)
def test_after_an_idle_process_is_killed_a_new_run_succeeds(site: Site, role: str) -> None:
    with supervised(site) as supervisor:
        eventually(lambda: len(those(site, "worker")) == CLUSTER_WORKERS)

        kill_an_idle(site, role)

        supervisor.until_succeeded(runs.a_run("example_pages", SHORT))


@pytest.mark.parametrize("role", ROLES)
def test_after_a_busy_cluster_loses_a_process_its_run_and_a_new_one_succeed(
    site: Site, role: str
) -> None:
    with supervised(site) as supervisor:
        busy = runs.a_run("example_pages", LONG)
        eventually(lambda: _pages_done(busy) >= 10, what="a page is done")

        victims = those(site, role) if role == "worker" else [the(site, role)]
        for victim in victims:
            kill(victim)

        supervisor.until_succeeded(busy)
        supervisor.until_succeeded(runs.a_run("example_pages", SHORT))
    assert runs.facts_of(busy) == {"total": sum(range(1, LONG_COUNT + 1))}


def test_two_clusters_and_ten_doorbells_a_run_execute_each_body_once(site: Site) -> None:
    with supervised(site) as supervisor:
        # Its words tell it from the first one.
        supervisor.keep("cluster", "--grace", "61", workers=1)
        more = CLUSTER_WORKERS + 1
        eventually(lambda: len(those(site, "worker")) == more, what="a second cluster works")
        started = [runs.a_run("example_pages", SHORT) for _ in range(20)]
        for _ in range(10 * len(started)):
            with transaction.atomic():
                bell.ring(0)

        for run_id in started:
            supervisor.until_succeeded(run_id)

    assert set(Step.objects.filter(run_id__in=started).values_list("attempt", flat=True)) == {1}


@pytest.mark.parametrize(
    "within",
    [
        pytest.param(RING_AFTER, id="before anybody rings again"),
        pytest.param(0.05, id="within a twentieth of a second", marks=pytest.mark.long),
    ],
)
def test_a_run_starts_with_its_doorbell(site: Site, within: float) -> None:
    with supervised(site) as supervisor:
        waited = []
        for _ in range(20):
            run_id = runs.a_run("example_pages", SHORT)
            supervisor.until_succeeded(run_id)
            began = runs.the_step(run_id, "number").started_at
            assert began is not None
            waited.append((began - runs.the_run(run_id).created_at).total_seconds())

    assert statistics.median(waited) < within, waited


def _pages_done(run_id: UUID) -> int:
    return Step.objects.filter(run_id=run_id).values_list("cursor_ordinal", flat=True).first() or 0
