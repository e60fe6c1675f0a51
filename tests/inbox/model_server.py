"""A language model of the tests' own: says over HTTP what it was told to say, and keeps what it was asked."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One answer; `hang` never gives it."""

    status: int = 200
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    hang: bool = False


@dataclass(slots=True, kw_only=True)
class ModelServer:
    """Where it listens, what it will say (the last answer again and again), what it was asked."""

    url: str
    answers: list[Said]
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    over: Event = field(default_factory=Event)

    def next_answer(self) -> Said:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def verdict(
    *, spam: bool = True, score: float = 0.9, reasons: tuple[str, ...] = ("a prize",)
) -> Said:
    content = json.dumps({"spam": spam, "score": score, "reasons": list(reasons)})
    return saying(content)


def saying(content: str) -> Said:
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    message = {"role": "assistant", "content": content}
    return Said(body=json.dumps({"choices": [{"message": message}], "usage": usage}))


@contextmanager
def a_model(*answers: Said) -> Iterator[ModelServer]:
    model = ModelServer(url="", answers=list(answers))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(model))
    model.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield model
    finally:
        model.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _handler_for(model: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            model.asked.append({"path": self.path, **json.loads(body)})
            model.keys.append(self.headers["Authorization"])
            said = model.next_answer()
            if said.hang:
                model.over.wait(10)
                return
            self.send_response(said.status)
            for name, value in said.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said.body.encode())

        def log_message(self, *_: Any) -> None:
            """Nothing: the test looks at what was asked."""

    return Handler
