"""Where doorbells wait, and how the pusher hears one within milliseconds: three brokers for django-q2.

A doorbell is taken for good when it is read: it is a hint, the assignment is in its own table,
and whoever misses one is rung again. So nothing is redelivered, acknowledged or locked.
"""

import logging
import sqlite3
import time
from functools import partial
from typing import Any

import psycopg
import redis
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django_q.brokers import Broker
from django_q.conf import Conf
from redis.backoff import NoBackoff
from redis.retry import Retry

from runs.dispatch import drain
from runs.dispatch.message import doorbell

ENOUGH = (
    16  # unread doorbells; each wakes a worker that takes all there is, so more would only queue
)
NAP = 0.5  # seconds an outage costs
Taken = list[tuple[None, str]] | None

log = logging.getLogger(__name__)


class Bell(Broker):
    """What the three share: an outage costs a nap, a draining cluster takes nothing."""

    failures = 0

    def ring(self, message: str) -> None:
        raise NotImplementedError

    def pull(self) -> str | None:
        """The list's key, where a statement can ring by itself (`runs_ring`)."""
        return None

    def unread(self) -> int:
        raise NotImplementedError

    def take(self) -> Taken:
        """Wait for a doorbell for at most `poll` seconds and take it."""
        raise NotImplementedError

    def hang_up(self) -> None:
        """Forget the line; the next take makes a new one."""

    def dequeue(self) -> Taken:
        if drain.requested():
            time.sleep(0.05)
            return None
        try:
            taken = self.take()
        except (psycopg.Error, sqlite3.Error, redis.RedisError, OSError) as error:
            return self._bear(error)
        self.failures = 0
        return taken

    def _bear(self, error: Exception) -> Taken:
        self.failures += 1
        log.warning("bell.failed", extra={"failures": self.failures, "error": str(error).strip()})
        self.hang_up()
        if self.failures > 1:  # the first may be a line that was cut long ago: try again at once
            time.sleep(NAP)
        return None

    def enqueue(self, task: str) -> None:
        self.ring(task)

    def queue_size(self) -> int:
        return self.unread()

    def lock_size(self) -> int:
        return 0

    def ping(self) -> bool:
        return True

    def info(self) -> str:
        return type(self).__name__

    def set_stat(self, key: str, value: str, timeout: int) -> None:
        """Nobody reads django-q2's statistics here: they look alive when nothing is."""


class _TableBell(Bell):
    """Doorbells in django-q2's table, put there by the transaction that placed the assignment."""

    RING = ""  # with the list's key, the message, and how many unread ones are enough
    UNREAD = "SELECT count(*) FROM django_q_ormq WHERE key = %s"
    _line: psycopg.Connection | sqlite3.Connection | None = None

    def ring(self, message: str) -> None:
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute(self.RING, [self.list_key, message, ENOUGH])

    def unread(self) -> int:
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute(self.UNREAD, [self.list_key])
            return int(cursor.fetchone()[0])

    def hang_up(self) -> None:
        if self._line is not None:
            self._line.close()
        self._line = None


class PgNotify(_TableBell):
    """PostgreSQL: LISTEN on a connection of its own; behind a transaction pooler `poll` is the floor."""

    # The function is in postgresql.sql beside this: a start calls it within its own statement.
    RING = "SELECT runs_ring(%s, %s, %s)"
    # ARRAY() runs the inner query once; as a join it could lock and skip more rows than it takes.
    TAKE = """
        DELETE FROM django_q_ormq WHERE id = ANY(ARRAY(
            SELECT id FROM django_q_ormq WHERE key = %s ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED))
        RETURNING payload"""
    _line: psycopg.Connection | None = None

    def pull(self) -> str | None:
        key: str = self.list_key
        return key

    def take(self) -> Taken:
        line = self._listening()
        taken = self._next(line)
        end = time.monotonic() + Conf.POLL
        # What was notified during the query is kept by psycopg and ends the wait at once.
        while not taken and (left := end - time.monotonic()) > 0 and not drain.requested():
            if list(line.notifies(timeout=min(left, 0.2), stop_after=1)):
                return self._next(line)
        return taken

    def _next(self, line: psycopg.Connection) -> Taken:
        rows = line.execute(self.TAKE, [self.list_key, Conf.BULK]).fetchall()
        return [(None, payload) for (payload,) in rows]

    def _listening(self) -> psycopg.Connection:
        if self._line is None:
            wanted: dict[str, Any] = dict(connections[DEFAULT_DB_ALIAS].get_connection_params())
            for djangos in ("cursor_factory", "context", "prepare_threshold", "isolation_level"):
                wanted.pop(djangos, None)
            wanted |= {
                "autocommit": True,
                "connect_timeout": 5,
                "application_name": "milepost-bell",
            }
            self._line = psycopg.connect(**wanted)
            # A doorbell that comes back after a crash of the server does no harm; waiting for the disk would.
            self._line.execute("SET synchronous_commit TO off")
            self._line.execute("LISTEN milepost_doorbell")
        return self._line


class SqliteWatch(_TableBell):
    """SQLite: looks every 5 ms whether anybody committed anything, and only then at the table."""

    RING = """
        WITH bell (key, message, enough) AS (VALUES (%s, %s, %s))
        INSERT INTO django_q_ormq (key, payload) SELECT key, message FROM bell
        WHERE (SELECT count(*) FROM django_q_ormq WHERE key = bell.key) < enough"""
    FIND = "SELECT id, payload FROM django_q_ormq WHERE key = ? ORDER BY id LIMIT ?"
    GLANCE = 0.005
    _line: sqlite3.Connection | None = None

    def take(self) -> Taken:
        line = self._watching()
        seen = self._version(line)  # before the table is read: what is committed after it, shows
        taken = self._next(line)
        end = time.monotonic() + Conf.POLL
        while not taken and time.monotonic() < end and not drain.requested():
            time.sleep(self.GLANCE)
            if self._version(line) != seen:
                return None  # the pusher comes back at once
        return taken

    def _next(self, line: sqlite3.Connection) -> Taken:
        found = line.execute(self.FIND, [self.list_key, Conf.BULK]).fetchall()
        # Read first: a DELETE takes the one write lock even where it finds nothing.
        return [(None, payload) for key, payload in found if self._took(line, key)]

    def _took(self, line: sqlite3.Connection, key: int) -> bool:
        return line.execute("DELETE FROM django_q_ormq WHERE id = ?", [key]).rowcount == 1

    def _version(self, line: sqlite3.Connection) -> int:
        return int(line.execute("PRAGMA data_version").fetchone()[0])

    def _watching(self) -> sqlite3.Connection:
        if self._line is None:
            wanted = connections[DEFAULT_DB_ALIAS].get_connection_params()
            self._line = sqlite3.connect(**wanted, isolation_level=None)
            # A doorbell that comes back after a power cut does no harm; waiting for the disk would.
            self._line.execute("PRAGMA synchronous = NORMAL")
        return self._line


class Redis(Bell):
    """Redis: rung when the transaction has committed; while Redis is away the workers look by themselves."""

    _quiet_until = 0.0

    def __init__(self, list_key: str | None = None) -> None:
        super().__init__(list_key=f"django_q:{list_key or Conf.CLUSTER_NAME}:q")
        # Whoever rings stands in somebody's request: one short try.
        fast = {"socket_connect_timeout": 0.25, "socket_timeout": 0.5}
        self._ringer = redis.Redis.from_url(settings.REDIS_URL, retry=Retry(NoBackoff(), 0), **fast)

    @staticmethod
    def get_connection(list_key: str | None = None) -> redis.Redis:
        return redis.Redis.from_url(
            settings.REDIS_URL,
            retry=Retry(NoBackoff(), 0),
            socket_connect_timeout=1,
            socket_timeout=5,
        )

    def ring(self, message: str) -> None:
        transaction.on_commit(partial(self._ring, message), robust=True)

    def unread(self) -> int:
        return int(self._ringer.llen(self.list_key))

    def take(self) -> Taken:
        said = self.connection.blpop([self.list_key], 1)
        return [(None, said[1].decode())] if said else None

    def hang_up(self) -> None:
        self.connection.connection_pool.disconnect()

    def _bear(self, error: Exception) -> Taken:
        super()._bear(error)
        return [(None, doorbell(0))]

    def _ring(self, message: str) -> None:
        if time.monotonic() < self._quiet_until:
            return
        try:
            with self._ringer.pipeline(transaction=False) as both:
                both.rpush(self.list_key, message)
                both.ltrim(self.list_key, 0, ENOUGH - 1)
                both.execute()
        except (redis.RedisError, OSError) as error:
            # Whoever places the next hundred assignments shall not wait a hundred times.
            self._quiet_until = time.monotonic() + 1
            log.warning("bell.not_rung", extra={"error": str(error)})
