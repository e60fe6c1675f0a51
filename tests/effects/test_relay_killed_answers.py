"""Couriers are killed right behind a no, a doubt, and a call that never left; each stays what it was (I6, R7)."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from runs.engine.faults import Point
from runs.models import Call
from tests.durability.plant import Plant
from tests.effects.test_relay_killed import keys_of, relay_plant
from tests.inbox import driving

__all__ = ["relay_plant"]

pytestmark = [pytest.mark.processes, pytest.mark.long]


class Receiver(HTTPServer):
    """Answers with these statuses, one after the other, once it listens; then with 200."""

    def __init__(self, *statuses: int) -> None:
        super().__init__(("127.0.0.1", 0), Answer, bind_and_activate=False)
        self.statuses, self.keys = list(statuses), list[str]()
        self.server_bind()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"

    def listen(self) -> None:
        self.server_activate()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Answer(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.keys.append(self.headers["Idempotency-Key"])
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 200)
        self.end_headers()
        self.wfile.write(json.dumps({"id": "1"}).encode())

    def log_message(self, *_: Any) -> None:
        """Nothing: what came is in `keys`."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    built = Receiver()
    yield built
    if built.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        built.shutdown()
    built.server_close()


@pytest.mark.parametrize(
    ("point", "status", "kind", "option"),
    [
        ("relay_refused", 409, "refused", "reopen"),
        ("relay_doubted", 500, "reconcile", "did_not"),
    ],
)
def test_a_person_is_asked_once_and_nothing_is_sent_before_the_answer(
    relay_plant: Plant, receiver: Receiver, point: Point, status: int, kind: str, option: str
) -> None:
    receiver.statuses.append(status)
    receiver.listen()
    relay_plant.arm(point)
    run_id = relay_plant.start("relays_blindly", receiver=receiver.url, resource=point)
    relay_plant.eventually(lambda: not relay_plant.fault.exists(), f"killed at {point}")

    relay_plant.until_asked(run_id, kind)
    assert receiver.keys == keys_of(run_id)
    driving.respond(run_id, option)
    relay_plant.until(run_id, "succeeded")

    assert receiver.keys == keys_of(run_id) * 2
    assert relay_plant.is_sound(run_id)


def test_what_never_left_leaves_later_once(relay_plant: Plant, receiver: Receiver) -> None:
    """Nobody listens yet, so the courier knows that nothing left."""
    relay_plant.arm("relay_postponed")
    run_id = relay_plant.start("relays_blindly", receiver=receiver.url, resource="postponed")
    relay_plant.eventually(lambda: not relay_plant.fault.exists(), "killed at relay_postponed")
    assert Call.objects.get(run_id=run_id).unsent

    receiver.listen()
    relay_plant.until(run_id, "succeeded")

    assert receiver.keys == keys_of(run_id)
    assert relay_plant.is_sound(run_id)
