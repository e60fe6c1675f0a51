"""Pings against the real server: many at once, somebody else's client, bodies of every length."""

import http.client
import json
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from urllib.request import urlopen

import pytest
from healthchecks_wrapper import HealthCheck

from monitors.rules.received import BODY_KEPT
from tests.monitors import pinger
from tests.monitors.pinged import KEY, a_key, a_monitor, again, last_ping
from tests.support.programs import Program, Site, answers
from tests.support.waiting import PATIENCE, eventually, free_port

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]
PINGERS, EACH = 6, 150


@pytest.fixture
def web(site: Site) -> Program:
    """As `up` starts it: two processes of four threads."""
    port = free_port()
    command = ("-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{port}")
    threads = ("--worker-class", "gthread", "--workers", "2", "--threads", "4")
    site.var.mkdir(parents=True, exist_ok=True)
    (site.var / "static").mkdir()
    program = site.launch(sys.executable, *command, *threads, "--no-control-socket", port=port)
    eventually(lambda: answers(program), what="the web process answers")
    return program


def test_of_many_pings_at_once_none_fails_and_none_is_lost(web: Program) -> None:
    a_key()
    first, second = a_monitor(), a_monitor(slug="shared")
    addresses = [f"{web.url}/ping/{first.code}", f"{web.url}/ping/{KEY}/shared"] * (PINGERS // 2)

    with ThreadPoolExecutor(PINGERS) as pingers:
        answered = sum(pingers.map(_pings_from_a_process, addresses), Counter[str]())

    assert answered == {"200": PINGERS * EACH}
    for monitor in (first, second):
        sent = EACH * PINGERS // 2
        assert again(monitor).n_pings == sent
        numbers = list(monitor.pings.order_by("n").values_list("n", flat=True))
        assert numbers == list(range(1, sent + 1))


def _pings_from_a_process(address: str) -> Counter[str]:
    done = subprocess.run(
        [sys.executable, pinger.__file__, address, str(EACH)],
        capture_output=True,
        check=True,
        text=True,
    )
    return Counter(json.loads(done.stdout))


def test_first_pings_at_once_make_one_monitor(web: Program) -> None:
    a_key()

    with ThreadPoolExecutor(6) as senders:
        told = list(senders.map(lambda _: _status(web, f"/{KEY}/new-one?create=1"), range(6)))

    assert sorted(told) == [200] * 5 + [201]
    assert _status(web, f"/{KEY}/new-one") == 200


def test_a_client_made_for_healthchecks_works_with_the_host_changed(
    web: Program, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # It waits for ten seconds, which a server on a busy machine may need.
    monkeypatch.setattr("healthchecks_wrapper.context_manager.urlopen", _opened_patiently)
    monitor = a_monitor()
    address = f"http://127.0.0.1:{web.port}/ping/{monitor.code}"

    with HealthCheck(address):
        running = again(monitor)
    went_well = again(monitor)
    with HealthCheck(address, suppress_exceptions=True):
        _fill_the_disk()

    assert running.last_start_at is not None
    assert (went_well.state, went_well.last_start_at) == ("up", None)
    assert went_well.last_duration is not None
    assert again(monitor).state == "down"
    assert b"the disk is full" in bytes(last_ping(monitor).body)
    assert capsys.readouterr().out == ""


def _opened_patiently(address: str, data: bytes | None = None, timeout: float = 0.0) -> object:
    return urlopen(address, data=data, timeout=PATIENCE)


def _fill_the_disk() -> None:
    raise RuntimeError("the disk is full")


def test_a_body_of_any_length_counts_and_its_beginning_is_kept(web: Program) -> None:
    monitor = a_monitor()

    for size in (0, BODY_KEPT, BODY_KEPT + 1, 3_000_000):
        for chunked in (False, True):
            assert _posted(web, f"/ping/{monitor.code}", size, chunked=chunked) == (200, b"OK")
            ping = last_ping(monitor)
            assert (ping.body_size, len(ping.body)) == (size, min(size, BODY_KEPT))


def _posted(web: Program, path: str, size: int, *, chunked: bool) -> tuple[int, bytes]:
    with closing(http.client.HTTPConnection("127.0.0.1", web.port, timeout=PATIENCE)) as line:
        if chunked:
            parts = iter([b"x" * 1000] * (size // 1000) + [b"x" * (size % 1000)])
            line.request("POST", path, parts, {"Transfer-Encoding": "chunked"}, encode_chunked=True)
        else:
            line.request("POST", path, b"x" * size)
        answer = line.getresponse()
        return answer.status, answer.read()


def _status(web: Program, path: str) -> int:
    with closing(http.client.HTTPConnection("127.0.0.1", web.port, timeout=PATIENCE)) as line:
        line.request("GET", path)
        return line.getresponse().status
