"""A receiver of signed webhooks, to start from: checks the signature, takes each notice once.

`python -m runs.examples.webhook_receiver --port 8900`, with the secret that Milepost showed in
MILEPOST_WEBHOOK_SECRET; while one is rotated both, with a space between.
"""

import argparse
import json
import os
import sys
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from runs.rules.signatures import BadSignature, verified

LONGEST = 64 * 1024


class WebhookReceiver(ThreadingHTTPServer):
    """Keeps what it took, and how often each notice came."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], *, secrets: list[str]) -> None:
        super().__init__(address, Handler)
        self.secrets = secrets
        self.taken: dict[str, dict[str, Any]] = {}
        self.times: dict[str, int] = {}
        self.refused: list[str] = []

    @property
    def url(self) -> str:
        return f"http://{self.server_address[0]!s}:{self.server_port}/notices"

    def take(self, headers: dict[str, str], body: bytes) -> str:
        """Raises BadSignature. The id is the same for every repeat, so a repeat changes nothing."""
        notice = verified(headers, body, secrets=self.secrets, now=datetime.now(UTC))
        self.times[notice] = self.times.get(notice, 0) + 1
        self.taken.setdefault(notice, json.loads(body))
        return "taken" if self.times[notice] == 1 else "known already"


class Handler(BaseHTTPRequestHandler):
    """Answers 200 to what is signed, 401 to all else."""

    server: WebhookReceiver

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(min(length, LONGEST))
        try:
            said = self.server.take(dict(self.headers), body)
        except BadSignature as wrong:
            self.server.refused.append(str(wrong))
            self._answer(401, str(wrong))
        else:
            self._answer(200, said)

    def _answer(self, status: int, text: str) -> None:
        said = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        sys.stderr.write(f"{format % args}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Takes Milepost's signed webhooks.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8900)
    said = parser.parse_args()
    secrets = os.environ.get("MILEPOST_WEBHOOK_SECRET", "").split()
    if not secrets:
        parser.error("Set MILEPOST_WEBHOOK_SECRET to the secret that Milepost showed.")
    with WebhookReceiver((said.host, said.port), secrets=secrets) as server:
        sys.stderr.write(f"Listening at {server.url}\n")
        server.serve_forever()


if __name__ == "__main__":
    main()
