"""What an answer takes beside the option: a comment, typed characters, a fresh sign-in."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from approvals.rules.asked import Option
from approvals.rules.case import Case
from approvals.rules.door import is_requester
from runs.rules.policy import Actor, is_fresh

TYPED = 6
SHORTEST_DIGEST = 12


class CommentMissing(ValueError):
    """This option takes a comment: why it is right, for whoever reads the record later."""


class ConfirmationMissing(ValueError):
    """What cannot be undone is confirmed by typing the end of the run's reference, or of its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """What this answer takes; the same at every door."""

    comment: bool
    confirm: bool
    sign_in: bool


def demands_of(
    actor: Actor, case: Case, option: Option, *, now: datetime, break_glass: bool = False
) -> Demands:
    grave = is_grave(actor, case, option) or break_glass
    return Demands(
        comment=grave or case.asked.always_comment,
        confirm=grave,
        sign_in=grave and not is_fresh(actor, now=now),
    )


def is_grave(actor: Actor, case: Case, option: Option) -> bool:
    """What cannot be undone, and what the requester allows alone."""
    alone = case.asked.takes_another(option) and is_requester(actor, case)
    return alone or case.asked.grave(option)


def confirms(typed: str, *, names: Collection[str], digest: str) -> bool:
    """Whether this is the end of one of the run's names, or enough of the digest that is bound."""
    said = typed.strip()
    if said and said in {name[-TYPED:] for name in names}:
        return True
    return len(said) >= SHORTEST_DIGEST and digest.startswith(said.lower())
