"""What a run has come to, as far as another plan than its own has to know it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from runs.definition.context import Cursor
from runs.rules.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A step that is over and counts, with the facts it wrote; none where a person skipped it."""

    key: str
    scope: str
    ordinal: int
    facts: Mapping[str, Any]
    checkpoint: int
    skipped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """The step a run stands at. `left` names what it has left behind, which only its plan knows."""

    key: str
    scope: str
    ordinal: int
    cursor: Cursor
    left: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadePlan:
    """A list of calls that no finished step has applied; `approved` when somebody said yes.

    A call that was approved alone and not made yet is one of its own, and no `is_list`.
    """

    name: str
    effects: frozenset[str]
    approved: bool
    is_list: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """`calls` are keys by scope; `unsettled` those of which nobody knows whether they happened."""

    run_id: UUID
    seq: int
    workflow: str
    version: int
    plan: Plan
    state: str
    schema: int
    input: Mapping[str, Any]
    done: Sequence[Done]
    here: Here
    calls: Mapping[str, Sequence[str]] = field(default_factory=dict)
    plans: Sequence[MadePlan] = ()
    unsettled: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def facts(self) -> dict[str, Any]:
        found = dict(self.input)
        for step in self.done:
            found |= step.facts
        return found
