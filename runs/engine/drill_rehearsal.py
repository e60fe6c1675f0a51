"""Processes of a rehearsal: every call of every effect goes to the counting receiver, never to its own.

Armed by MILEPOST_DRILL, which names a file in this installation's VAR_DIR that holds the mark of its
database. Only a drill makes that mark, and only in a database that has never held a run, so a real one
cannot be armed by mistake: a process that is told to and finds no mark does no work at all.
"""

import http.client
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from django.conf import settings

from runs.definition.effects import Answer, Effect, NotSent, Probe, Refused, Request
from runs.engine import drill_observer, faults, identity, secrets
from runs.queries import drills

TOLD = "MILEPOST_DRILL"
ELSEWHERE = "MILEPOST_DRILL_ELSEWHERE"


class NotAScratch(RuntimeError):
    """This process is told to rehearse on a database that no drill has made; it does nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """What the file says: the mark of the database, and where the receiver answers."""

    mark: str
    receiver: str
    patience: float
    observed: str = ""


def told() -> bool:
    return TOLD in os.environ


def arm() -> None:
    """Turn every effect of this process to the receiver, or refuse to go on."""
    rehearsal = _read(Path(os.environ[TOLD]))
    turn(rehearsal)
    if rehearsal.observed:
        drill_observer.observe(Path(rehearsal.observed))
    if ELSEWHERE in os.environ:
        identity.seem_to_be_at(os.environ[ELSEWHERE])


def _read(file: Path) -> Rehearsal:
    if file.parent.resolve() != Path(settings.VAR_DIR).resolve():
        raise NotAScratch(f"{file} is not in {settings.VAR_DIR}.")
    try:
        rehearsal = Rehearsal(**json.loads(file.read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise NotAScratch(f"{file} says nothing about a drill: {error}") from error
    if not rehearsal.mark or drills.scratch_mark() != rehearsal.mark:
        raise NotAScratch("This database was not made by the drill that is named here.")
    return rehearsal


def turn(rehearsal: Rehearsal) -> None:
    """Replace what every effect sends with and looks up with, those still to be made too."""
    own_send, own_probe = _own("send"), _own("probe")
    Effect.send = property(  # type: ignore[misc, assignment]
        lambda effect: _Send(effect.name, effect, rehearsal), own_send.__set__
    )
    Effect.probe = property(  # type: ignore[misc, assignment]
        lambda effect: _probe(own_probe.__get__(effect, Effect), effect, rehearsal),
        own_probe.__set__,
    )
    secrets.values_of = _rehearsed_secrets


def turn_back() -> None:
    """Let effects send by themselves again: for a test's own process."""
    for name, own in _kept.items():
        setattr(Effect, name, own)


def _own(name: str) -> Any:
    """Where an effect really keeps it, however often it has been replaced."""
    there = Effect.__dict__[name]
    if isinstance(there, property):
        return _kept[name]
    return _kept.setdefault(name, there)


_kept: dict[str, Any] = {}


def _rehearsed_secrets(names: frozenset[str]) -> dict[str, str]:
    return {name: f"rehearsed {name}" for name in names}


def _probe(own: Any, effect: Effect, rehearsal: Rehearsal) -> Probe | None:
    if own is None:
        return None
    settles = own.settles if isinstance(own, Probe) else timedelta(0)
    return Probe(find=_Find(effect.name, rehearsal), settles=settles)


@dataclass(frozen=True, slots=True)
class _Send:
    name: str
    effect: Effect = field(compare=False, repr=False)
    rehearsal: Rehearsal = field(compare=False, repr=False)

    def __call__(self, request: Request, /, *, key: str, timeout: float) -> Answer:
        call = {
            "answer": _answer_to(self.effect, request),
            "named": f"{self.name} {json.dumps(request, sort_keys=True)}",
            "deduplicates": self.effect.contract is not None,
            **_whose(),
        }
        patience = min(timeout, self.rehearsal.patience)
        status, answer = _ask(
            self.rehearsal.receiver, "POST", "/call", call, key=key, timeout=patience
        )
        if status == 422:
            raise Refused("the rehearsed receiver refuses")
        if status == 503:
            raise NotSent("the rehearsed receiver takes nothing just now")
        return answer


def _whose() -> dict[str, str]:
    session = faults.attended()
    if session is None:
        return {"run": "", "step": ""}
    return {"run": str(session.fence.run_id), "step": session.begun.key}


@dataclass(frozen=True, slots=True)
class _Find:
    name: str
    rehearsal: Rehearsal = field(compare=False, repr=False)

    def __call__(self, key: str, request: Request, /) -> Answer | None:
        return look_up(self.rehearsal.receiver, key)


def look_up(receiver: str, key: str) -> Answer | None:
    """What the receiver answered under this key, if anything happened."""
    status, answer = _ask(receiver, "GET", f"/call?key={quote(key)}", None, key=key, timeout=10)
    return answer if status == 200 else None


def count(receiver: str) -> dict[str, Any]:
    """What the receiver has counted."""
    return _ask(receiver, "GET", "/count", None, key="", timeout=10)[1]


def under_way(receiver: str) -> tuple[int, int]:
    """As which caller this is heard, and the oldest one whose call is still under way."""
    told = _ask(receiver, "GET", "/under_way", None, key="", timeout=10)[1]
    return told["caller"], told["oldest"]


def misbehave(receiver: str, **manners: Any) -> None:
    """Tell the receiver how to behave at the first arrival of a key from now on."""
    _ask(receiver, "POST", "/misbehave", manners, key="", timeout=10)


def _answer_to(effect: Effect, request: Request) -> Answer:
    if effect.rehearsed is not None:
        return effect.rehearsed(dict(request))
    text = f"{effect.name} {json.dumps(request, sort_keys=True)}"
    return {"id": sha256(text.encode()).hexdigest()[:16], "rehearsed": True}


def _ask(
    receiver: str,
    method: str,
    path: str,
    value: Mapping[str, Any] | None,
    *,
    key: str,
    timeout: float,
) -> tuple[int, dict[str, Any]]:
    address = urlsplit(receiver)
    line = http.client.HTTPConnection(address.hostname or "", address.port, timeout=timeout)
    try:
        try:
            line.connect()
        except OSError as error:
            raise NotSent(f"the rehearsed receiver cannot be reached: {error}") from error
        body = None if value is None else json.dumps(value).encode()
        headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
        line.request(method, path, body=body, headers=headers)
        response = line.getresponse()
        return response.status, json.loads(response.read() or b"{}")
    finally:
        line.close()
