"""A scratch database with a real cluster and a real watch on it, whose workers tests kill where they like."""

import atexit
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
from django.db import connection, connections

from runs.definition import registry
from runs.dispatch.sentinel import CRASHED
from runs.engine.faults import Point
from runs.models import Assignment, Run, Step, Wait, Worker
from runs.queries.clock import db_now
from runs.queries.verify import violations
from tests.inbox import driving
from tests.support.programs import CLUSTER_WORKERS, Program, Site
from tests.support.waiting import PATIENCE, eventually

BODIES = "tests.durability.bodies"
OVER = ("succeeded", "failed", "cancelled")


@dataclass(slots=True, kw_only=True)
class Plant:
    """One installation: what is killed in it comes back by itself, or the test fails."""

    site: Site
    started: list[UUID] = field(default_factory=list)
    workers_seen: int = 0
    clusters: list[tuple[Program, tuple[str, ...], dict[str, str]]] = field(default_factory=list)
    tends: bool = True

    def cluster(
        self, *, workers: int = CLUSTER_WORKERS, grace: float = 10, **settings: str
    ) -> Program:
        """A cluster with that many workers that are there, beside those of other clusters."""
        began = db_now()
        options = ("--workers", str(workers), "--grace", str(grace))
        armed = {"FAULT_AT": f"@{self.fault}"} | settings
        program = self.site.start("cluster", *options, port=0, **armed)
        self.clusters.append((program, options, armed))
        new = Worker.objects.filter(state="live", started_at__gte=began)
        self.eventually(lambda: new.count() >= workers, "every worker is enlisted")
        return program

    def tend(self) -> None:
        """What a supervisor does: start a cluster again that has ended because it could not be trusted.

        As one does when a worker dies that had just answered and may have taken a lock along.
        """
        for program, options, armed in list(self.clusters) if self.tends else []:
            if program.process.poll() == CRASHED and not program.told:
                self.clusters.remove((program, options, armed))
                again = self.site.start("cluster", *options, port=0, **armed)
                self.clusters.append((again, options, armed))

    def watch(self, **settings: str) -> Program:
        return self.site.start("watch", port=0, **settings)

    @property
    def fault(self) -> Path:
        return self.site.var / "fault"

    def arm(self, point: Point, *, at: int = 1) -> None:
        """The next worker that gets there dies there."""
        draft = self.fault.with_suffix(".draft")
        draft.write_text(f"{point}:{at}")
        draft.rename(self.fault)

    def start(self, workflow: str, **given: Any) -> UUID:
        run_id = driving.start(workflow, **given)
        self.started.append(run_id)
        return run_id

    def scratch(self, name: str = "lines") -> Path:
        """A file of this test's own, for receivers and marks."""
        return self.site.var / f"{name}-{uuid4().hex}"

    def eventually(self, look: Callable[[], Any], what: str, *, within: float = PATIENCE) -> Any:
        def tended() -> Any:
            self.tend()
            return look()

        try:
            return eventually(tended, within=within, what=what)
        except AssertionError as late:
            told = "\n".join(f"{run_id}: {driving.state_of(run_id)}" for run_id in self.started)
            logs = "\n".join(program.said()[-6000:] for program in self.site.programs)
            raise AssertionError(f"{late}\n{told}\n{logs}") from None

    def until(self, run_id: UUID, state: str, *, within: float = PATIENCE) -> Run:
        """Wait for the run to be in this state; that it ends in another one fails the test."""

        def arrived() -> Run | None:
            run = Run.objects.get(pk=run_id)
            if run.state != state and run.state in OVER:
                raise AssertionError(f"{run_id} is {run.state} {run.reason}\n{self.said()}")
            return run if run.state == state else None

        found: Run = self.eventually(arrived, f"{run_id} is {state}", within=within)
        return found

    def said(self) -> str:
        return "\n".join(program.said()[-6000:] for program in self.site.programs)

    def until_asked(self, run_id: UUID, kind: str, *, within: float = PATIENCE) -> Wait:
        """Wait until the run asks a person about this."""

        def asks() -> Wait | None:
            wait = Wait.objects.filter(run_id=run_id, state="open", kind="decision").first()
            return wait if wait and f'"kind":"{kind}"' in wait.subject else None

        found: Wait = self.eventually(asks, f"{run_id} asks: {kind}", within=within)
        return found

    def holder_of(self, run_id: UUID) -> Worker:
        """Who works on the run, as soon as somebody does."""

        def held() -> Worker | None:
            claim = Assignment.objects.filter(run_id=run_id, state="claimed").first()
            return claim.worker if claim and claim.worker and claim.worker.state == "live" else None

        found: Worker = self.eventually(held, f"somebody works on {run_id}")
        return found

    def kill_holder_of(self, run_id: UUID) -> Worker:
        worker = self.holder_of(run_id)
        os.kill(worker.pid, signal.SIGKILL)
        return worker

    def deaths_of(self, run_id: UUID) -> int:
        return Assignment.objects.filter(run_id=run_id, state="lost").count()

    def attempts_of(self, run_id: UUID, step: str) -> int:
        return Step.objects.get(run_id=run_id, key=step, superseded=False).attempt

    def is_sound(self, *run_ids: UUID) -> bool:
        """Every invariant holds on these runs; all of them when none is named."""
        assert violations(list(run_ids) or None) == []
        return True


def lines_in(file: Path, *, run_id: UUID | None = None) -> list[list[str]]:
    """The words of every line that bodies left."""
    if not file.exists():
        return []
    rows = [line.split() for line in file.read_text().splitlines()]
    return [row for row in rows if run_id is None or row[0] == str(run_id)]


@contextmanager
def known_bodies() -> Iterator[None]:
    """This process knows the workflows of these tests too, for the length of the block."""
    known = registry.all_workflows()
    with registry.isolated():
        registry.discover([BODIES])
        found = registry.all_workflows() or _bodies
        _bodies[:] = found
        for workflow in {*known, *found}:
            registry.register(workflow)
        yield


_bodies: list[Any] = []


@contextmanager
def a_plant(var: Path) -> Iterator[Plant]:
    """A plant on a database of its own, which this process looks at as well meanwhile."""
    with _scratch_database(var) as url, known_bodies():
        site = Site(var=var, database_url=url, settings={"WORKFLOW_APPS": BODIES})
        try:
            yield Plant(site=site)
        finally:
            site.end()


@contextmanager
def _scratch_database(var: Path) -> Iterator[str]:
    """A copy of one that has been migrated once, under another name."""
    default, before = (
        connections["default"].settings_dict,
        connections["default"].settings_dict["NAME"],
    )
    migrated, name = _migrated(), f"plant_{uuid4().hex[:12]}"
    connection.close()
    try:
        if connection.vendor == "sqlite":
            default["NAME"] = shutil.copy(migrated, var / f"{name}.sqlite3")
        else:
            _on_server(f"CREATE DATABASE {name} TEMPLATE {migrated}")
            default["NAME"] = name
        yield _address(str(default["NAME"]))
    finally:
        connection.close()
        if connection.vendor == "postgresql":
            _on_server(f"DROP DATABASE {name} WITH (FORCE)")
        default["NAME"] = before


@cache
def _migrated() -> str:
    var = Path(tempfile.mkdtemp(prefix="milepost-plant-"))
    atexit.register(shutil.rmtree, var, ignore_errors=True)
    name = f"plant_template_{uuid4().hex[:12]}"
    if connection.vendor == "sqlite":
        name = str(var / "template.sqlite3")
    else:
        _on_server(f"CREATE DATABASE {name}")
    site = Site(var=var, database_url=_address(name), settings={"WORKFLOW_APPS": BODIES})
    migrated = site.manage("migrate", "--verbosity", "0")
    assert migrated.code == 0, migrated.err
    return name


def _address(name: str) -> str:
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    default = connections["default"].settings_dict
    secret = f":{default['PASSWORD']}" if default["PASSWORD"] else ""
    return f"postgresql://{default['USER']}{secret}@{default['HOST']}:{default['PORT']}/{name}"


def _on_server(statement: str) -> None:
    default = connections["default"].settings_dict
    address = {"host": default["HOST"], "port": default["PORT"], "user": default["USER"]}
    with psycopg.connect(
        dbname="postgres", password=default["PASSWORD"], autocommit=True, **address
    ) as server:
        server.execute(statement.encode())
