"""Says over HTTP that this worker and the run in its hands live; a thread of its own, apart from leases (R23)."""

import http.client
import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from runs import conf as settings
from runs.conf import conf
from runs.rules import beats, canonical
from runs.rules.beats import Beat
from runs.rules.fence import Fence

log = logging.getLogger(__name__)

# The spool: what could not be delivered is kept, the oldest of it forgotten first.
KEPT_AT_MOST = 1_000
PATIENCE = 3.0
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 5.0
# What is over within this time has nothing to say over HTTP; the database tells of it.
FIRST_BEAT_AFTER = 1.0


class NotHeard(Exception):
    """The beats did not arrive, or were not taken; they are kept and delivered later."""


@dataclass(slots=True, kw_only=True)
class Source:
    """What beats, how often, and when it beats next, by the monotonic clock."""

    kind: str
    subject: str
    fence: int
    every: float
    due: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spooled:
    beat: Beat
    at: float


class Heartbeats(threading.Thread):
    """Collects what is due, sends it, and keeps what could not be sent with its time."""

    def __init__(self, kind: str, subject: str, *, every: float) -> None:
        super().__init__(name="heartbeats", daemon=True)
        self._self = Source(kind=kind, subject=subject, fence=0, every=every, due=_now())
        self._run: Source | None = None
        self._numbers = itertools.count(1)
        self._spool: deque[Spooled] = deque(maxlen=KEPT_AT_MOST)
        self._pause, self._try_at = 0.0, 0.0
        self._woken, self._stopped = threading.Event(), threading.Event()

    @contextmanager
    def of(self, fence: Fence, every: float | None) -> Iterator[None]:
        """While the block lasts, this run beats too; not at all if it declares no heartbeat."""
        if every is not None:
            self._run = Source(
                kind="run",
                subject=str(fence.run_id),
                fence=fence.number,
                every=every,
                due=_now() + min(every, FIRST_BEAT_AFTER),
            )
            self._woken.set()
        try:
            yield
        finally:
            self._run = None

    def stop(self) -> None:
        self._stopped.set()
        self._woken.set()

    def run(self) -> None:
        while not self._stopped.is_set():
            try:
                self.beat_once()
            # The rim: whatever is wrong with saying "I live" must not end the one who says it.
            except Exception:
                log.exception("beats.failed", extra={"kind": self._self.kind})
            self._woken.wait(self._until_due())
            self._woken.clear()

    def beat_once(self) -> None:
        """Note what is due, and send all that is kept unless the last try has just failed."""
        now = _now()
        for source in (self._self, self._run):
            if source is not None and now >= source.due:
                self._note(source, now)
        if self._spool and now >= self._try_at:
            self._deliver()

    def _note(self, source: Source, now: float) -> None:
        beat = Beat(
            kind=source.kind,
            subject=source.subject,
            fence=source.fence,
            number=next(self._numbers),
        )
        self._spool.append(Spooled(beat=beat, at=now))
        source.due = now + source.every

    def _deliver(self) -> None:
        batch = list(itertools.islice(self._spool, beats.MOST_AT_ONCE))
        try:
            unknown = send([replace(kept.beat, age=_now() - kept.at) for kept in batch])
        except NotHeard as error:
            self._later(error)
            return
        if self._pause:
            log.info("beats.delivered_again", extra={"kept": len(self._spool)})
        self._pause = 0.0
        for _ in batch:
            self._spool.popleft()
        self._say_again(unknown)

    def _later(self, error: NotHeard) -> None:
        if not self._pause:
            log.warning("beats.not_delivered", extra={"error": str(error)})
        self._pause = min(max(self._pause * 2, FIRST_PAUSE), LONGEST_PAUSE)
        self._try_at = _now() + self._pause

    def _say_again(self, unknown: list[str]) -> None:
        """Its monitor is only about to be made; the next beat may be long away."""
        for source in (self._self, self._run):
            if source is not None and f"{source.kind}:{source.subject}" in unknown:
                source.due = min(source.due, _now() + FIRST_BEAT_AFTER)

    def _until_due(self) -> float:
        due = [source.due for source in (self._self, self._run) if source is not None]
        if self._spool:
            due.append(self._try_at)
        return max(min(due) - _now(), 0.0)


def send(said: list[Beat]) -> list[str]:
    """Deliver beats; which of them nobody watches yet. Raises NotHeard."""
    where, body = urlsplit(settings.site()), beats.said(said)
    secured = where.scheme == "https"
    opened = http.client.HTTPSConnection if secured else http.client.HTTPConnection
    connection = opened(str(where.hostname), where.port, timeout=PATIENCE)
    headers = {
        "Content-Type": "application/json",
        beats.SIGNATURE: beats.signature_of(body, secret=conf().secret),
    }
    try:
        connection.request("POST", where.path + beats.PATH, body=body, headers=headers)
        answer = connection.getresponse()
        told = answer.read(beats.LARGEST)
    except (OSError, http.client.HTTPException) as error:
        raise NotHeard(f"{type(error).__name__}: {error}") from error
    finally:
        connection.close()
    if answer.status != http.HTTPStatus.OK:
        raise NotHeard(f"The monitor answered {answer.status}.")
    return _unknown_in(told)


def _unknown_in(told: bytes) -> list[str]:
    try:
        return [str(each) for each in canonical.loads(told.decode())["unknown"]]
    except (ValueError, KeyError, TypeError):
        return []


def _now() -> float:
    """A clock that goes on while the machine is suspended, so that ages are true."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
