"""The proof that a worker may write: who it is, which run, and the number of its assignment."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """`number` rises with every claim and every takeover; only the newest may write (I3)."""

    run_id: UUID
    tenant_id: int
    worker_id: UUID
    assignment_id: int
    number: int


class FenceLost(BaseException):
    """Somebody else owns this run now; stop writing.

    A BaseException, so that an author's `except Exception` cannot swallow it (R13).
    """

    def __init__(self, fence: Fence) -> None:
        super().__init__(
            f"Run {fence.run_id} is no longer held under fence {fence.number}: stop writing."
        )
        self.fence = fence
