"""A receiver that counts, a process of its own: it keeps the promise of each effect, and misbehaves as told.

`python -m runs.engine.drill_receiver FILE` writes its port into the file and answers until it is ended.
`POST /call` is a call under its key, `GET /call` looks one up, `POST /misbehave` tells it how to behave,
`GET /count` is what it has counted, `GET /under_way` who came first of those that are still here. Only the
standard library: it starts at once.
"""

import json
import sys
import threading
import time
from collections import Counter
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

# At the first arrival of a key: done and the line is cut; nothing is done and nobody answers; a no;
# done in the end, but too late; not taken; done at leisure.
MISBEHAVIOURS = ("drop", "timeout", "refuse", "late", "unavailable", "slow")
LEISURE = 0.15


class Counted:
    """What arrived and what was done, by key."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.arrived: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.answers: dict[str, dict[str, Any]] = {}
        self.calls: dict[str, str] = {}
        self.runs: dict[str, str] = {}
        self.patience = 1.0
        self.manners: dict[str, dict[str, Any]] = {}
        self.came = 0
        self.here: dict[int, int] = {}

    def comes(self, line: int) -> None:
        """Callers are numbered in the order in which they came."""
        with self.lock:
            self.came += 1
            self.here[line] = self.came

    def goes(self, line: int) -> None:
        with self.lock:
            self.here.pop(line, None)

    def under_way(self, line: int) -> dict[str, int]:
        with self.lock:
            return {"caller": self.here[line], "oldest": min(self.here.values())}

    def arrive(self, key: str, *, run: str, step: str) -> str:
        """Count an arrival; how to misbehave at it, or ""."""
        with self.lock:
            self.arrived[key] += 1
            first = self.arrived[key] == 1
            manners = self.manners.get(run) or self.manners.get("")
        if not first or manners is None or manners.get("step", "") not in ("", step):
            return ""
        chance = int(sha256(key.encode()).hexdigest()[:12], 16)
        if chance % 1000 >= 1000 * manners.get("share", 1.0):
            return ""
        return str(manners["first"][chance // 1000 % len(manners["first"])])

    def do(self, key: str, call: dict[str, Any], *, deduplicates: bool) -> dict[str, Any]:
        """Do it, unless a promise says that the same key twice is one effect."""
        with self.lock:
            if not (deduplicates and key in self.answers):
                self.done[key] += 1
                self.answers.setdefault(key, call["answer"])
                self.calls[key], self.runs[key] = call["named"], call["run"]
            return self.answers[key]

    def found(self, key: str) -> dict[str, Any] | None:
        with self.lock:
            return self.answers.get(key)

    def count(self) -> dict[str, Any]:
        with self.lock:
            return {
                "arrivals": sum(self.arrived.values()),
                "done": dict(self.done),
                "calls": dict(self.calls),
                "runs": dict(self.runs),
            }

    def behave(self, told: dict[str, Any]) -> None:
        """In the calls of one run, or of every run that is not named; well again without `first`."""
        with self.lock:
            self.patience = told.get("patience", self.patience)
            if told.get("first"):
                self.manners[told.get("run", "")] = told
            else:
                self.manners.pop(told.get("run", ""), None)


COUNTED = Counted()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        if address.path == "/count":
            self._answer(200, COUNTED.count())
            return
        if address.path == "/under_way":
            self._answer(200, COUNTED.under_way(self.connection.fileno()))
            return
        found = COUNTED.found(parse_qs(address.query)["key"][0])
        self._answer(404 if found is None else 200, found or {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/misbehave":
            COUNTED.behave(body)
            self._answer(200, {})
            return
        key = self.headers["Idempotency-Key"]
        self._take(key, body, COUNTED.arrive(key, run=body["run"], step=body["step"]))

    def _take(self, key: str, call: dict[str, Any], misbehaviour: str) -> None:
        patience = COUNTED.patience
        if misbehaviour in ("refuse", "unavailable"):
            self._answer(422 if misbehaviour == "refuse" else 503, {})
            return
        if misbehaviour in ("timeout", "late"):
            time.sleep(patience * 1.3)
        if misbehaviour == "slow":
            time.sleep(min(LEISURE, patience / 2))
        if misbehaviour == "timeout":
            self.close_connection = True
            return
        answer = COUNTED.do(key, call, deduplicates=call["deduplicates"])
        if misbehaviour in ("drop", "late"):
            self.close_connection = True
            return
        self._answer(200, answer)

    def _answer(self, status: int, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """It counts; it does not talk."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def process_request(self, request: Any, client_address: Any) -> None:
        COUNTED.comes(request.fileno())
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        COUNTED.goes(request.fileno())
        super().shutdown_request(request)

    def handle_error(self, *_: Any) -> None:
        """A caller that was killed has cut its line."""


def main() -> None:
    server = Server(("127.0.0.1", 0), Handler)
    file = Path(sys.argv[1])
    draft = file.with_suffix(".draft")
    draft.write_text(str(server.server_port))
    draft.replace(file)
    server.serve_forever()


if __name__ == "__main__":
    main()
