"""The bare drivers that the engine is measured beside: four writes a commit, nothing else."""

import sqlite3
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection

STEPS = 10
TABLES = """
CREATE TABLE floor_run (id {id} PRIMARY KEY, state text, n int, at {time});
CREATE TABLE floor_step (id {serial}, run {id} REFERENCES floor_run, key text, result text);
CREATE TABLE floor_event (id {serial}, run {id} REFERENCES floor_run, what text, body text);
CREATE TABLE floor_outbox (id {serial}, run {id}, body text);
"""


def of_this_database(scratch: Path) -> Callable[[int], float]:
    """Steps a second of so many runs of ten steps, by the bare driver of the default database."""
    if connection.vendor == "sqlite":
        return _sqlite(scratch / "floor.sqlite3")
    return _postgresql()


def _postgresql() -> Callable[[int], float]:
    parameters = dict(connection.get_connection_params())
    for name in ("cursor_factory", "context", "prepare_threshold"):
        parameters.pop(name, None)
    bare = psycopg.connect(**parameters)
    bare.execute(
        TABLES.format(id="uuid", time="timestamptz", serial="bigserial PRIMARY KEY").encode()
    )
    bare.commit()
    return lambda runs: _loop(bare, runs, mark="%s", now="now()")


def _sqlite(path: Path) -> Callable[[int], float]:
    bare = sqlite3.connect(path)
    bare.execute("PRAGMA journal_mode=WAL")
    bare.execute("PRAGMA synchronous=FULL")
    bare.executescript(TABLES.format(id="text", time="text", serial="integer PRIMARY KEY"))
    return lambda runs: _loop(bare, runs, mark="?", now="datetime('now')")


def _loop(bare: Any, runs: int, *, mark: str, now: str) -> float:
    step = f"UPDATE floor_run SET n = {mark}, at = {now} WHERE id = {mark}"  # noqa: S608
    began = time.perf_counter()
    for _ in range(runs):
        run = str(uuid.uuid4())
        bare.execute(f"INSERT INTO floor_run VALUES ({mark}, 'running', 0, {now})", (run,))  # noqa: S608
        bare.commit()
        for number in range(STEPS):
            bare.execute(step, (number, run))
            bare.execute(
                f"INSERT INTO floor_step (run, key, result) VALUES ({mark}, {mark}, '{{}}')",  # noqa: S608
                (run, f"step{number}"),
            )
            bare.execute(
                f"INSERT INTO floor_event (run, what, body) VALUES ({mark}, 'done', '{{}}')",  # noqa: S608
                (run,),
            )
            bare.execute(f"INSERT INTO floor_outbox (run, body) VALUES ({mark}, '{{}}')", (run,))  # noqa: S608
            bare.commit()
        bare.execute(f"UPDATE floor_run SET state = 'succeeded' WHERE id = {mark}", (run,))  # noqa: S608
        bare.commit()
    return runs * STEPS / (time.perf_counter() - began)
