"""A real receiver: what arrived at it, byte for byte."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import httpx

from runs.definition import NotSent
from runs.rules import canonical


class Arrived(NamedTuple):
    key: str
    body: bytes


class Receiver(ThreadingHTTPServer):
    """Keeps every request; `busy` of them are turned away before anything happens."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Taking)
        self.arrived, self.busy = list[Arrived](), 0

    def send(self, request: dict[str, Any], *, key: str, timeout: float) -> dict[str, Any]:
        """What an effect of a test does."""
        if self.busy:
            self.busy -= 1
            raise NotSent("the receiver is busy")
        answer = httpx.post(
            f"http://127.0.0.1:{self.server_port}/",
            content=canonical.dumps(request).encode(),
            headers={"Idempotency-Key": key},
            timeout=timeout,
        )
        return dict(answer.raise_for_status().json())


class _Taking(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.arrived.append(Arrived(self.headers["Idempotency-Key"], body))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"id":"1"}')

    def log_message(self, *_: Any) -> None:
        """Nothing: what came is in `arrived`."""


@contextmanager
def a_receiver() -> Iterator[Receiver]:
    with Receiver() as built:
        threading.Thread(target=built.serve_forever, daemon=True).start()
        yield built
        built.shutdown()
