"""`up` runs everything on one machine, restarts what dies, and leaves nothing behind."""

import http.cookiejar
import re
import shutil
import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlencode

import psutil
import pytest

from config.first_run import SAMPLE
from tests.support.programs import Program, Site
from tests.support.waiting import PATIENCE, eventually, free_port

pytestmark = [pytest.mark.processes, pytest.mark.one_database, pytest.mark.timeout(180)]

PARTS = ("web", "cluster", "watch")
WORDS = {"web": "config.wsgi", "cluster": "cluster", "watch": "watch"}


@pytest.fixture
def fresh_up(empty_site: Site) -> Iterator[Program]:
    """`up` on a machine where nothing was set up before."""
    yield from _served(empty_site)


@pytest.fixture
def up(empty_site: Site, migrated_sqlite: Path) -> Iterator[Program]:
    """`up` where the tables are there already, which takes less time."""
    empty_site.var.mkdir(parents=True)
    shutil.copy(migrated_sqlite, empty_site.var / migrated_sqlite.name)
    yield from _served(empty_site)


def _served(site: Site) -> Iterator[Program]:
    program = start(site, port=free_port())
    program.says("Ctrl-C stops everything")
    yield program
    program.send(signal.SIGTERM)
    program.ended()


def start(site: Site, *, port: int) -> Program:
    return site.start("up", port=port, PORT=str(port))


def link_in(said: str) -> str:
    return str(re.findall(r"http://\S+/signin/\S+", said)[-1])


def words_of(process: psutil.Process) -> list[str]:
    """Of one that ends while it is looked at none are left."""
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def parent_of(process: psutil.Process) -> int:
    with suppress(psutil.Error):
        return int(process.ppid())
    return 0


def managers(site: Site) -> list[psutil.Process]:
    """Without what one of them has started that has not become a program of its own yet."""
    named = [each for each in site.processes() if "supervisor.supervisord" in words_of(each)]
    numbers = {each.pid for each in named}
    return [each for each in named if parent_of(each) not in numbers]


def part(site: Site, name: str) -> psutil.Process:
    """The main process of one of the three parts, as soon as it runs."""
    return eventually(lambda: alive(site, name), what=f"{name} runs")


def alive(site: Site, name: str) -> psutil.Process | None:
    """The child of supervisord that runs it."""
    with suppress(psutil.NoSuchProcess):
        for manager in managers(site):
            for child in manager.children():
                if WORDS[name] in words_of(child):
                    return child
    return None


def all_run(site: Site) -> bool:
    return all(alive(site, name) for name in PARTS)


class Visitor:
    """A browser without scripts, with cookies."""

    def __init__(self) -> None:
        self.cookies = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))

    def get(self, url: str) -> str:
        return str(self.opener.open(url, timeout=PATIENCE).read().decode())

    def press(self, url: str) -> str:
        token = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', self.get(url))[0]
        form = urlencode({"csrfmiddlewaretoken": token}).encode()
        return str(self.opener.open(url, data=form, timeout=PATIENCE).read().decode())


def test_a_fresh_machine_is_served_and_its_link_signs_in(
    empty_site: Site, fresh_up: Program
) -> None:
    visitor = Visitor()

    page = visitor.press(link_in(fresh_up.said()))

    assert "Set a password" in page
    assert f"http://127.0.0.1:{fresh_up.port}" in fresh_up.said()
    eventually(lambda: all_run(empty_site), what="all three run")


def test_the_bundled_workflow_is_started_once(empty_site: Site, up: Program) -> None:
    up.stop()

    again = start(empty_site, port=up.port)

    assert "was started before" in again.says("Ctrl-C stops everything")
    assert again.stop() == 0


def test_a_second_up_and_the_link_command_know_where_the_first_one_is(
    empty_site: Site, up: Program
) -> None:
    assert empty_site.manage("signin").out.startswith(f"{up.url}/signin/")

    second = empty_site.start("up", "--inbox", str(SAMPLE))

    assert second.ended() == 0
    assert f"already answers at {up.url}" in second.said()
    assert f"of {SAMPLE} was started before" in second.said()
    assert "Set a password" in Visitor().press(link_in(second.said()))
    assert len(managers(empty_site)) == 1


def test_a_busy_port_is_passed_over_for_the_next_free_one(empty_site: Site) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        busy = taken.getsockname()[1]

        up = start(empty_site, port=busy)

        said = up.says("Ctrl-C stops everything")
        assert f"Port {busy} is busy; taking " in said
        up.stop()


@pytest.mark.parametrize(
    "how",
    [
        signal.SIGINT,
        *(pytest.param(s, marks=pytest.mark.long) for s in (signal.SIGTERM, signal.SIGHUP)),
    ],
)
def test_stopping_leaves_nothing(empty_site: Site, up: Program, how: signal.Signals) -> None:
    up.send(how)

    assert up.ended() == 0
    empty_site.leaves_nothing()


def test_a_killed_up_leaves_no_orphans(empty_site: Site, up: Program) -> None:
    up.kill()

    empty_site.leaves_nothing()


def test_whatever_is_killed_comes_back(empty_site: Site, up: Program) -> None:
    """R35"""
    for name in PARTS:
        kill_and_wait_for_the_next(empty_site, name)

    (manager,) = managers(empty_site)
    manager.kill()
    eventually(lambda: not manager.is_running(), what="the process manager is gone")
    eventually(lambda: all_run(empty_site), what="all run again")
    eventually(lambda: answers(up), what="the pages answer")


def kill_and_wait_for_the_next(site: Site, name: str) -> None:
    before = part(site, name)
    before.kill()

    def another() -> bool:
        now = alive(site, name)
        return now is not None and now.pid != before.pid

    eventually(another, what=f"{name} runs again")


def test_an_inbox_that_is_not_there_stops_it_with_a_sentence(empty_site: Site) -> None:
    answer = empty_site.manage("up", "--inbox", "/nowhere/mail.tsv")

    assert answer.code == 2
    assert "There is no inbox at /nowhere/mail.tsv." in answer.err
    empty_site.leaves_nothing()


def answers(up: Program) -> bool:
    try:
        with urllib.request.urlopen(f"{up.url}/healthz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
