"""Counts how often each step's body is entered, for as long as a test lasts."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any
from uuid import UUID

from runs.definition.step import StepDeclaration
from runs.definition.workflow import Workflow


class Entries:
    """A body is entered again after each wait in it, each failure, and each death of its worker."""

    def __init__(self) -> None:
        self._counted: Counter[tuple[UUID, str]] = Counter()
        self._workflows: set[type[Workflow]] = set()

    def count_in(self, workflow: type[Workflow], stack: ExitStack) -> None:
        if workflow not in self._workflows:
            self._workflows.add(workflow)
            for step in workflow.steps:
                stack.enter_context(self._counting(step))

    def of(self, run_id: UUID, step: str) -> int:
        return self._counted[run_id, step]

    @contextmanager
    def _counting(self, step: StepDeclaration) -> Iterator[None]:
        body: Callable[..., Any] = step.body

        @wraps(body)
        def counted(workflow: Workflow, run: Any) -> Any:
            self._counted[run.id, step.key] += 1
            return body(workflow, run)

        object.__setattr__(step, "body", counted)
        try:
            yield
        finally:
            object.__setattr__(step, "body", body)
