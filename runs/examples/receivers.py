"""Small receivers that count what arrives, as lines of a file that outlives every process.

A call first leaves the line `arrived`; what it changes is the line `effect`; a call under a known key
leaves `repeat` instead where the receiver keeps a contract. Counting the lines counts the calls.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from runs.definition import NotSent, Refused


def send_with_contract(request: dict[str, Any], /, *, key: str, timeout: float) -> dict[str, Any]:
    """A receiver that keeps its promise: the same key twice is one effect and one answer."""
    return _send(request, key=key, timeout=timeout, deduplicates=True)


def send_plainly(request: dict[str, Any], /, *, key: str, timeout: float) -> dict[str, Any]:
    """A receiver that does again whatever it is told again."""
    return _send(request, key=key, timeout=timeout, deduplicates=False)


def find(key: str, request: dict[str, Any], /) -> dict[str, Any] | None:
    """Look up whether a call with this key had its effect."""
    receiver = request["receiver"]
    if receiver.startswith(("http://", "https://")):
        response = httpx.get(receiver, params={"key": key}, timeout=10)
        if response.status_code == 404:
            return None
        return dict(response.raise_for_status().json())
    with _locked(Path(receiver)):
        return _effect_of(Path(receiver), key)


def _send(
    request: dict[str, Any], *, key: str, timeout: float, deduplicates: bool
) -> dict[str, Any]:
    if request.get("refuse"):
        raise Refused(f"the receiver refuses: {request['refuse']}")
    if request["receiver"].startswith(("http://", "https://")):
        return _post(request, key=key, timeout=timeout)
    receiver = Path(request["receiver"])
    _append(receiver, {"line": "arrived", "key": key, "resource": request["resource"]})
    time.sleep(request.get("before_effect", 0))
    with _locked(receiver):
        answer = _effect_of(receiver, key) if deduplicates else None
        line = "repeat" if answer else "effect"
        answer = answer or {"id": f"{request['resource']}-{key[-8:]}"}
        _append(receiver, {"line": line, "key": key, "answer": answer, **_shown(request)})
    time.sleep(request.get("after_effect", 0))
    return answer


def _post(request: dict[str, Any], *, key: str, timeout: float) -> dict[str, Any]:
    try:
        response = httpx.post(
            request["receiver"], json=request, headers={"Idempotency-Key": key}, timeout=timeout
        )
    except httpx.ConnectError as error:
        raise NotSent(f"{request['receiver']} cannot be reached: {error}") from error
    if 400 <= response.status_code < 500:
        raise Refused(f"the receiver answered {response.status_code}")
    return dict(response.raise_for_status().json())


def _effect_of(receiver: Path, key: str) -> dict[str, Any] | None:
    for line in lines_of(receiver):
        if line["line"] == "effect" and line["key"] == key:
            return dict(line["answer"])
    return None


def lines_of(receiver: Path) -> list[dict[str, Any]]:
    """Every line left so far; a line that a killed process did not finish is passed over."""
    if not receiver.exists():
        return []
    whole = receiver.read_bytes().split(b"\n")[:-1]
    return [json.loads(line) for line in whole]


def _append(receiver: Path, line: dict[str, Any]) -> None:
    # One write with O_APPEND: lines of processes that write at once do not mix.
    descriptor = os.open(receiver, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, json.dumps(line).encode("utf-8") + b"\n")
    finally:
        os.close(descriptor)


def _shown(request: dict[str, Any]) -> dict[str, Any]:
    return {"resource": request["resource"], "process": os.getpid()}


@contextmanager
def _locked(receiver: Path) -> Iterator[None]:
    with receiver.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
