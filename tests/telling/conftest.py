"""Receivers that these tests deliver to, on this machine."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from runs.examples.webhook_receiver import Handler, WebhookReceiver

Serve = Callable[..., str]


@pytest.fixture
def allowed(settings: Any) -> None:
    """This installation lets channels reach this machine, where the receivers of tests are."""
    settings.CHANNEL_NETWORKS = ("127.0.0.0/8",)


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebhookReceiver]:
    """The bundled receiver; a test tells it the secret."""
    monkeypatch.setattr(Handler, "log_message", lambda *_: None)
    with WebhookReceiver(("127.0.0.1", 0), secrets=[]) as server, _serving(server):
        yield server


@pytest.fixture
def serve() -> Iterator[Serve]:
    """`serve(answer)` is the address of a server that has `answer(handler)` answer every request."""
    with ExitStack() as stack:

        def start(answer: Callable[[BaseHTTPRequestHandler], None]) -> str:
            class Answering(BaseHTTPRequestHandler):
                def do_POST(self) -> None:
                    self.rfile.read(int(self.headers.get("Content-Length") or 0))
                    answer(self)

                do_GET = do_POST  # noqa: N815

                def log_message(self, *_: object) -> None:
                    pass

            server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Answering))
            stack.enter_context(_serving(server))
            return f"http://127.0.0.1:{server.server_port}"

        yield start


@contextmanager
def _serving(server: ThreadingHTTPServer) -> Iterator[None]:
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()


def say(handler: BaseHTTPRequestHandler, status: int, text: str = "", **headers: str) -> None:
    """Answer one request."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(text.encode())))
    handler.end_headers()
    handler.wfile.write(text.encode())
