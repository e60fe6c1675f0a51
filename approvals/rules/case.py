"""What is known of a decision when somebody comes to answer it, and who else there is."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from approvals.rules.asked import Asked
from runs.rules.policy import Verb

LOCAL = "local operator "


@dataclass(frozen=True, slots=True, kw_only=True)
class Requester:
    """Who has a part in what is asked for; `did` completes the sentence after the name."""

    name: str
    did: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """Somebody has delegated to the actor, until then, what they may answer themselves.

    `groups` are the giver's; where only one was handed on it is the only one, and `in_part` is true.
    """

    name: str
    user_id: int
    groups: frozenset[str]
    in_part: bool
    may_decide: bool
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """A vote that counts: who gave it, whose right was used, and for what."""

    by: str
    user_id: int | None
    voice_id: int | None
    option: str
    at: datetime
    fields: str = "{}"
    digest: str = ""
    groups: frozenset[str] = frozenset()
    on_behalf_of: str = ""

    def says_the_same_as(self, other: "Cast") -> bool:
        """Only votes for the same answer, on the same bytes, add up (R16)."""
        mine = (self.option, self.fields, self.digest)
        return mine == (other.option, other.fields, other.digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What the door needs to know of a decision.

    `requesters` are who started the run, first, and whoever has made it what it is since; `people`
    those who may answer by their own right, by name; enough of them, not all.
    """

    groups: frozenset[str]
    asked: Asked
    requesters: Sequence[Requester] = ()
    people: Sequence[str] = ()
    votes: Sequence[Cast] = ()
    stand_ins: Sequence[StandIn] = ()

    @property
    def requester(self) -> str:
        """Who started the run."""
        return self.requesters[0].name if self.requesters else ""

    def request_of(self, name: str) -> Requester | None:
        """The part that this person has in what is asked for."""
        return next((one for one in self.requesters if same_person(name, one.name)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """By whose right the actor answers: their own, or that of who has delegated it."""

    voice_id: int | None
    groups: frozenset[str]
    on_behalf_of: str = ""
    until: datetime | None = None


def who_may(groups: frozenset[str]) -> str:
    """The sentence that names who may answer."""
    if not groups:
        return f"Whoever has the permission “{Verb.DECIDE}” may answer."
    of_them = " or ".join(f"“{name}”" for name in sorted(groups))
    return (
        f"People in {of_them} with the permission “{Verb.DECIDE}” may answer, and administrators."
    )


def named(case: Case, *, most: int = 5) -> str:
    """The people themselves who may still answer, by name."""
    left = left_of(case)
    if not left:
        return "Nobody else may."
    more = f" and {len(left) - most} more" if len(left) > most else ""
    return f"{', '.join(left[:most])}{more} may."


def left_of(case: Case) -> list[str]:
    """Who may answer and has not; without requesters, where that takes somebody else."""
    voted = {name for vote in case.votes for name in (vote.by, vote.on_behalf_of)}
    apart = any(map(case.asked.takes_another, case.asked.options))
    return [
        name for name in case.people if name not in voted and not (apart and case.request_of(name))
    ]


def same_person(name: str, other: str) -> bool:
    """An account of this machine is the person who signs in by that name."""
    return name.removeprefix(LOCAL) == other.removeprefix(LOCAL)
