"""Builders for tests of the cluster: a site with a stand-in engine, its processes by role, a restarter."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import psutil

from runs.dispatch import bell
from tests.durability.bells import Happened, happened
from tests.support.programs import CLUSTER_WORKERS, Program, Site
from tests.support.waiting import PATIENCE, eventually

T = TypeVar("T")
SETTINGS = "tests.durability.bell_settings"


@dataclass(slots=True, kw_only=True)
class Belfry:
    """One site whose clusters run the stand-in."""

    site: Site
    ring: Callable[[int], None] = bell.ring
    placed: int = 0
    codes: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("placed", "claimed"):
            (self.directory / name).mkdir(parents=True, exist_ok=True)

    @property
    def directory(self) -> Path:
        return self.site.var / "bells"

    def start(self, *, workers: int = CLUSTER_WORKERS, grace: float = 60.0) -> Program:
        options = ("--workers", str(workers), "--grace", str(grace))
        return self.site.start("cluster", *options, DJANGO_SETTINGS_MODULE=SETTINGS)

    def cluster(self, *, workers: int = CLUSTER_WORKERS, grace: float = 60.0) -> Program:
        """A cluster that is ready: every worker is enlisted, the pusher has the line open."""
        before = len(self.seen("enlisted"))
        program = self.start(workers=workers, grace=grace)
        self.eventually(
            lambda: len(self.seen("enlisted")) >= before + workers, "a cluster is ready"
        )
        self.wait_for("finished", self.place())
        return program

    def place(self, kind: str = "nothing", *, ring: bool = True) -> str:
        """A job for the stand-in, and the doorbell for it."""
        self.placed += 1
        name = f"job{self.placed:04d}"
        draft = self.directory / f"{name}.{kind}"
        draft.touch()
        draft.rename(self.directory / "placed" / draft.name)
        if ring:
            self.ring(self.placed)
        return name

    def seen(self, what: str, job: str | None = None) -> list[Happened]:
        record = happened(self.directory)
        return [one for one in record if one.what == what and job in (None, one.job)]

    def wait_for(self, what: str, job: str, *, within: float = PATIENCE) -> Happened:
        return self.eventually(lambda: self.seen(what, job), f"{job} {what}", within=within)[-1]

    def eventually(self, look: Callable[[], T], what: str, *, within: float = PATIENCE) -> T:
        try:
            return eventually(look, within=within, what=what, every=0.01)
        except AssertionError as late:
            logs = "\n".join(program.said()[-4000:] for program in self.site.programs)
            record = "\n".join(str(one) for one in happened(self.directory)[-20:])
            raise AssertionError(f"{late}\n{record}\n{logs}") from None

    def tend(self, program: Program, **options: float) -> Program:
        """What a supervisor does: start again what has ended."""
        code = program.process.poll()
        if code is None:
            return program
        self.codes.append(code)
        return self.start(**options)  # type: ignore[arg-type]

    def forget_what_is_placed(self) -> None:
        """Jobs that are still to do become short ones, and those that run end soon."""
        for job in (self.directory / "placed").iterdir():
            with suppress(FileNotFoundError):
                job.rename(job.with_suffix(".nothing"))
        for job in (self.directory / "claimed").iterdir():
            job.unlink(missing_ok=True)

    def new_work_runs(self, program: Program, *, within: float = PATIENCE) -> Program:
        """A job placed now is done, by this cluster or by one that the supervisor started."""
        job = self.place()
        current = [program]

        def done() -> bool:
            current.append(self.tend(current[-1]))
            return bool(self.seen("finished", job))

        self.eventually(done, f"{job} is done", within=within)
        return current[-1]

    def comes_to_rest(self, program: Program, *, processes: int) -> Program:
        """One cluster is left, whole, and it is the one that the supervisor knows."""
        current = [program]

        def at_rest() -> bool:
            current.append(self.tend(current[-1]))
            living = self.site.processes()
            mains = [one.pid for one in living if role_of(one) == "mp-main"]
            return len(living) == processes and mains == [current[-1].pid]

        self.eventually(at_rest, "one cluster is left")
        return current[-1]


def role_of(process: psutil.Process) -> str:
    try:
        return Path(f"/proc/{process.pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return "gone"


def those(site: Site, role: str) -> list[psutil.Process]:
    """The living processes of the site that play a role: main, sentinel, worker, pusher, monitor."""
    living = site.processes()
    return sorted((one for one in living if role_of(one) == f"mp-{role}"), key=lambda one: one.pid)


def the(site: Site, role: str) -> psutil.Process:
    """The one that plays it, as soon as it has taken its name."""
    return eventually(lambda: those(site, role), what=f"there is a {role}")[0]


def kill(process: psutil.Process) -> None:
    """It may have gone meanwhile, with one that was killed before it."""
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)


def kill_an_idle(site: Site, role: str) -> None:
    """Until its cluster has ended: a worker that was still at work is replaced, and the next one killed."""
    kill(the(site, role))

    def ended() -> bool:
        if role == "worker" and (workers := those(site, role)):
            kill(workers[0])
        return not those(site, "main")

    eventually(ended, what="the cluster has ended", every=0.2)
