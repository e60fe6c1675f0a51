"""The commands as a shell sees them: with a cluster and a watch beside them, numbers and pipes."""

import json
import os
import pty
import subprocess
import sys
from contextlib import suppress

import pytest

from config.environment import ROOT
from runs.models import Wait
from runs.queries.clock import db_now
from tests.support.programs import Site
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.processes


@pytest.fixture
def working_site(site: Site) -> Site:
    site.start("watch")
    site.start("cluster", "--workers", "1")
    return site


def test_a_run_is_started_waited_for_and_verified(working_site: Site) -> None:
    # Longer than a test lasts: it is woken when whoever waits has said that it sleeps.
    given = ("--input", '{"seconds": 3600}', "--wait", "--json")
    with subprocess.Popen(
        [sys.executable, "manage.py", "runs", "start", "example_sleep", *given],
        env=working_site.environment(),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as waiting:
        assert waiting.stderr is not None
        assert any("sleeps" in line for line in waiting.stderr)
        Wait.objects.update(due_at=db_now())
        said, _ = waiting.communicate(timeout=PATIENCE)
    verified = working_site.manage("verify", "--files", "--json")

    done = json.loads(said)
    assert waiting.returncode == 0
    assert done["state"] == done["audit_line"]["state"] == "succeeded"
    assert (verified.code, verified.json) == (0, {"violations": []})


def test_an_event_wakes_a_run(working_site: Site) -> None:
    started = working_site.manage(
        "runs", "start", "example_event", "--input", '{"order": "7"}', "--json"
    )

    given = ("--correlation-id", "7", "--message-id", "m-1", "--payload", '{"sum": 12}')
    delivered = working_site.manage("events", "deliver", "order.paid", *given, "--json")
    again = working_site.manage("events", "deliver", "order.paid", *given, "--json")

    assert delivered.json["outcome"] in ("used", "kept")
    assert again.json["outcome"] == "duplicate"
    assert started.json["state"] == "queued"


@pytest.mark.parametrize(
    "words",
    [
        ("runs",),
        ("runs", "dance"),
        ("runs", "start"),
        ("runs", "list", "--state", "tired"),
        ("runs", "cancel", "monday"),
        ("runs", "show", "monday", "--jsn"),
        ("events", "deliver", "paid"),
        ("workers", "drain"),
        ("verify", "--now"),
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_2(words: tuple[str, ...], site: Site) -> None:
    assert site.manage(*words).code == 2


def test_a_database_without_tables_is_a_sentence(empty_site: Site) -> None:
    empty_site.var.mkdir()

    for words in (("runs", "list"), ("workers", "list"), ("verify",)):
        said = empty_site.manage(*words)
        assert said.code == 1
        assert "no such table" in said.err
        assert "Traceback" not in said.err


def test_whoever_reads_only_the_beginning_gets_no_complaint(site: Site) -> None:
    site.manage("runs", "start", "example_sleep")

    piped = subprocess.run(
        ["sh", "-c", f"{sys.executable} manage.py runs list --json | true"],
        env=site.environment(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert piped.stderr == ""


def test_a_terminal_shows_a_bar(working_site: Site) -> None:
    outer, inner = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "manage.py", "runs", "start", "example_sleep", "--wait"],
        env=working_site.environment(),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=inner,
        text=True,
    ) as waiting:
        os.close(inner)
        # Read while it is written: a terminal that nobody reads is full after a while.
        seen = _all_of(outer)
        said, _ = waiting.communicate()

    assert waiting.returncode == 0
    assert "step 1/1 sleep |" in seen
    assert "is succeeded" in said


def _all_of(outer: int) -> str:
    """What is written to a terminal until nobody has it any more."""
    seen = b""
    with suppress(OSError):
        while more := os.read(outer, 65_536):
            seen += more
    os.close(outer)
    return seen.decode()
