"""The clockwork's command: take over, wake up, deliver; one a var folder."""

import fcntl
import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from runs.engine.watch import Watch


class Command(BaseCommand):
    help = (
        "Take over lost work, wake what is due, deliver the outbox. Executes no step and needs no "
        "cluster. Ends with 0 on SIGTERM or SIGINT."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        path = Path(settings.VAR_DIR) / "watch.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                raise CommandError(
                    f"A watch already runs on {path.parent} (process {lock.read().strip()}).",
                    returncode=1,
                ) from None
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            Watch().run()
