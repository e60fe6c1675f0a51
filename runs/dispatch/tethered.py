"""Programs that end when the one that started them does, however it ended.

`python -m runs.dispatch.tethered PROGRAM ...` becomes PROGRAM, tied to its parent.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

SET_PARENT_DEATH_SIGNAL = 1


def die_with_parent(how: signal.Signals = signal.SIGKILL) -> Callable[[], None]:
    """For `preexec_fn`: the kernel sends `how` as soon as the parent is gone (Linux only)."""
    parent, libc = os.getpid(), ctypes.CDLL(None)

    def tie() -> None:
        libc.prctl(SET_PARENT_DEATH_SIGNAL, how)
        # The parent may have died before the line above; then nobody would send anything.
        if os.getppid() != parent:
            os._exit(1)

    return tie


def tether(how: signal.Signals = signal.SIGKILL) -> None:
    """Have the kernel send `how` to this process as soon as its parent is gone."""
    ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, how)


def main() -> None:
    tether()
    if os.getppid() == 1:
        raise SystemExit("The parent is gone.")
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606


if __name__ == "__main__":
    main()
