"""What a cluster that starts takes for left over by another one on the same machine."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from runs.dispatch import groups
from tests.support.waiting import eventually

pytestmark = [
    pytest.mark.processes,
    pytest.mark.one_database,
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]


@contextmanager
def a_line_of(*names: str) -> Iterator[list[int]]:
    """Processes of these names, each the child of the one before it."""
    told, telling = os.pipe()
    first = os.fork()
    if first == 0:
        _become(list(names), telling)
    os.close(telling)
    with os.fdopen(told) as line:
        pids = [int(line.readline()) for _ in names]
        for pid, name in zip(pids, names, strict=True):
            eventually(partial(_is_named, pid, name), what=f"{pid} is {name}")
        yield pids
        os.kill(first, signal.SIGKILL)
        os.waitpid(first, 0)


def _is_named(pid: int, name: str) -> bool:
    """Or gone: a cluster of the suite's other leg may sweep just then."""
    seen = groups._look(pid)
    return seen is None or seen.gone or seen.name == name


def _become(names: list[str], telling: int) -> None:
    groups.die_with_parent(os.getppid())
    os.write(telling, f"{os.getpid()}\n".encode())
    groups.name_process(names[0])
    if names[1:] and os.fork() == 0:
        _become(names[1:], telling)
    signal.pause()


def test_what_a_sentinel_has_just_forked_is_not_left_over() -> None:
    with a_line_of(groups.MAIN, groups.SENTINEL, groups.SENTINEL) as (_, sentinel, child):
        seen = [groups._look(pid) for pid in (sentinel, child)]

        assert [groups._is_orphan(one) for one in seen if one] == [False, False]


def test_a_sentinel_whose_main_is_gone_is_left_over() -> None:
    with a_line_of("another", groups.SENTINEL) as (_, sentinel):
        seen = groups._look(sentinel)

        assert seen is None or seen.gone or groups._is_orphan(seen)
