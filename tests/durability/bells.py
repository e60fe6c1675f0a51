"""A stand-in for the engine: jobs are files, claimed by renaming, and what happens is written down."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from runs.dispatch import drain

STEP = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """One line of the record."""

    at: float
    pid: int
    what: str
    job: str


def record_path() -> Path:
    return Path(os.environ["VAR_DIR"]) / "bells"


def write_down(what: str, job: str = "-") -> None:
    line = f"{time.monotonic():.6f} {os.getpid()} {what} {job}\n"
    # One write in append mode: lines of several processes do not mix.
    with (record_path() / "record").open("a", encoding="utf-8") as record:
        record.write(line)


def happened(directory: Path) -> list[Happened]:
    try:
        lines = (directory / "record").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    rows = [line.split(" ", 3) for line in lines]
    return [Happened(at=float(at), pid=int(pid), what=what, job=job) for at, pid, what, job in rows]


def enlist() -> None:
    write_down("enlisted")


def delist() -> None:
    write_down("delisted")


def unclaimed() -> float | None:
    """Seconds the oldest placed job waits."""
    try:
        oldest = min(path.stat().st_mtime for path in (record_path() / "placed").iterdir())
    except (ValueError, FileNotFoundError):
        return None
    return max(0.0, time.time() - oldest)


def work(*_args: object, **_kwargs: object) -> None:
    """Do placed jobs until none is left or the cluster is to stop."""
    while not drain.requested() and (claimed := _claim()):
        name, _, kind = claimed.name.partition(".")
        write_down("started", name)
        DOES[kind](claimed)


def _claim() -> Path | None:
    for placed in sorted((record_path() / "placed").iterdir()):
        mine = record_path() / "claimed" / placed.name
        try:
            placed.rename(mine)
        except FileNotFoundError:
            continue
        return mine
    return None


def _nothing(job: Path) -> None:
    _finish(job)


def _long(job: Path) -> None:
    """Many short steps: the request to stop is heard between two, and the job handed on."""
    while job.exists():
        time.sleep(STEP)
        if drain.requested():
            write_down("handed_on", job.name.partition(".")[0])
            job.rename(record_path() / "placed" / job.with_suffix(".nothing").name)
            return


def _stubborn(job: Path) -> None:
    """One step that hears nothing at all."""
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        try:
            time.sleep(deadline - time.monotonic())
        except BaseException:  # noqa: BLE001
            write_down("shrugged", job.name)


def _family(job: Path) -> None:
    """A step with four children: in its group, in a session of its own, forked, and one it stops."""
    sleeper = [sys.executable, "-c", "import time; time.sleep(300)"]
    subprocess.Popen(sleeper)
    subprocess.Popen(sleeper, start_new_session=True)
    if os.fork() == 0:
        time.sleep(300)
    obedient = subprocess.Popen(sleeper)
    obedient.terminate()
    code = obedient.wait(timeout=60)
    write_down("obeyed" if code == -signal.SIGTERM else "refused", job.name)
    _long(job)


def _limited(job: Path) -> None:
    """A step with a hard limit, which it does not keep."""
    from runs.dispatch.pulse import must_end

    must_end(within=0.5)
    _stubborn(job)


def _finish(job: Path) -> None:
    name = job.name.partition(".")[0]
    job.unlink()
    write_down("finished", name)


DOES = {
    "nothing": _nothing,
    "long": _long,
    "stubborn": _stubborn,
    "family": _family,
    "limited": _limited,
}
