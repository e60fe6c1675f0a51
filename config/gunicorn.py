"""What gunicorn is told beside its command line: its workers end with it, however it ends."""

import os
from typing import Any

from runs.dispatch.tethered import tether


def post_fork(_server: Any, worker: Any) -> None:
    """A worker that is still starting would not see for seconds that its master was killed."""
    tether()
    if os.getppid() != worker.ppid:
        os._exit(1)
