"""What makes a process the same process: a pid alone is used again (R22)."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessIdentity:
    """`started` counts clock ticks from the start of the machine; all five must agree."""

    host: str
    boot_id: str
    pid_namespace: str
    pid: int
    started: float

    def on_the_machine_of(self, other: "ProcessIdentity") -> bool:
        """Whether the two can see each other's pids."""
        return (self.host, self.boot_id, self.pid_namespace) == (
            other.host,
            other.boot_id,
            other.pid_namespace,
        )


def lock_key(worker_id: UUID) -> int:
    """The advisory lock of a worker: a signed bigint, from the part of its id that is random."""
    return int.from_bytes(worker_id.bytes[8:], signed=True)
