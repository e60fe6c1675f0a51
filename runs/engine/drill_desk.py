"""Who writes down an answer in a rehearsal: the app that keeps decisions registers its desk here."""

from collections.abc import Mapping
from typing import Any, Protocol

from runs.rules.policy import Actor


class Desk(Protocol):
    """Answers the decision that a wait has opened, as the page or the command would."""

    def __call__(
        self, actor: Actor, wait_id: int, *, option: str, fields: Mapping[str, Any], comment: str
    ) -> object: ...


class NoDesk(LookupError):
    """No app of this installation keeps decisions, so nobody can answer in a drill."""


_desks: list[Desk] = []


def register(desk: Desk) -> None:
    """The last one that registered answers."""
    _desks[:] = [desk]


def desk() -> Desk:
    if not _desks:
        raise NoDesk("No app has registered a desk; add `approvals` to INSTALLED_APPS.")
    return _desks[0]
