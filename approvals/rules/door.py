"""Who may answer a decision, and with which option: the one door of page, command and link."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from approvals.rules.asked import Asked, Option
from approvals.rules.quorum import tally
from runs.rules.policy import Actor, Verb, may

Missing = Literal["permission", "group", "payloads", "vote", "another", "administrator"]
LOCAL = "local operator "


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why this actor may not do this; the sentence says who may."""

    missing: Missing
    sentence: str


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

    `people` are those who may answer by their own right, by name; enough of them, not all.
    """

    groups: frozenset[str]
    asked: Asked
    requester: str = ""
    people: Sequence[str] = ()
    votes: Sequence[Cast] = ()
    stand_ins: Sequence[StandIn] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """By whose right the actor answers: their own, or that of who has delegated it."""

    voice_id: int | None
    groups: frozenset[str]
    on_behalf_of: str = ""
    until: datetime | None = None


class NotYours(Exception):
    """The door stays shut for this actor; the message says who may answer."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.sentence)
        self.refusal = refusal


def refusal(
    actor: Actor, case: Case, option: Option | None = None, *, break_glass: bool = False
) -> Refusal | None:
    """None when the actor may answer, and with this option where one is named."""
    found = standing(actor, case)
    if isinstance(found, Refusal):
        return found
    if break_glass and not may(actor, Verb.ADMINISTER):
        return Refusal(missing="administrator", sentence="Only administrators may break the glass.")
    if not break_glass and (voted := _voted(actor, case, found)):
        return voted
    if option is None:
        return None
    if not may_choose_unseen(actor, case.asked, option):
        return Refusal(
            missing="payloads",
            sentence=(
                f"“{option.label}” needs the permission “{Verb.VIEW_PAYLOADS}”: nobody agrees to "
                "what they may not see whole."
            ),
        )
    if not break_glass and needs_another(actor, case, option):
        return _another(case, option)
    return None


def standing(actor: Actor, case: Case) -> Standing | Refusal:
    """By whose right the actor may answer; their own comes first."""
    refused = _own_refusal(actor, case)
    if refused is None:
        groups = case.groups if actor.administrator else actor.groups & case.groups
        return Standing(voice_id=actor.user_id, groups=groups)
    for giver in case.stand_ins:
        theirs = giver.groups & case.groups if case.groups else not giver.in_part
        if giver.may_decide and theirs:
            return Standing(
                voice_id=giver.user_id,
                groups=giver.groups & case.groups,
                on_behalf_of=giver.name,
                until=giver.until,
            )
    return refused


def standing_or_none(actor: Actor, case: Case) -> Standing | None:
    found = standing(actor, case)
    return found if isinstance(found, Standing) else None


def _own_refusal(actor: Actor, case: Case) -> Refusal | None:
    if not may(actor, Verb.DECIDE):
        return Refusal(
            missing="permission",
            sentence=f"{actor.name} lacks the permission “{Verb.DECIDE}”. {who_may(case.groups)}",
        )
    if case.groups and not actor.administrator and not actor.groups & case.groups:
        return Refusal(
            missing="group",
            sentence=f"{actor.name} is in none of its groups. {who_may(case.groups)}",
        )
    return None


def _voted(actor: Actor, case: Case, found: Standing) -> Refusal | None:
    for vote in case.votes:
        if vote.by == actor.name or (actor.user_id and vote.user_id == actor.user_id):
            chosen = case.asked.option(vote.option).label
            said = f"{vote.by} answered “{chosen}” at {vote.at:%H:%M} UTC, and votes once."
        elif found.voice_id and vote.voice_id == found.voice_id:
            said = f"{vote.by} has answered in this place at {vote.at:%H:%M} UTC."
        else:
            continue
        return Refusal(missing="vote", sentence=said)
    return None


def is_shut(actor: Actor, case: Case, option: Option) -> bool:
    """Whether only breaking the glass would let this answer decide: a rule asks for somebody else."""
    found = refusal(actor, case, option)
    if found is not None:
        return found.missing in ("vote", "another")
    given = standing(actor, case)
    assert isinstance(given, Standing)  # noqa: S101 - not refused
    votes = [*(each.groups for each in case.votes if each.option == option.key), given.groups]
    come_to = tally(quorum=case.asked.quorum, all_of=case.asked.all_of, votes=votes)
    return not option.ends_the_run and not come_to.complete


def needs_another(actor: Actor, case: Case, option: Option) -> bool:
    """Whether this would be the requester's own yes, though somebody else could give it."""
    return (
        case.asked.takes_another(option) and is_requester(actor, case) and bool(others(actor, case))
    )


def is_requester(actor: Actor, case: Case) -> bool:
    """Whether the run was started by the actor, or by who the actor would answer for."""
    found = standing(actor, case)
    behalf = found.on_behalf_of if isinstance(found, Standing) else ""
    return _same(actor.name, case.requester) or (bool(behalf) and _same(behalf, case.requester))


def _same(name: str, other: str) -> bool:
    """An account of this machine is the person who signs in by that name."""
    return name.removeprefix(LOCAL) == other.removeprefix(LOCAL)


def others(actor: Actor, case: Case) -> list[str]:
    """Who else may answer. An account of the machine is nobody else than the only person."""
    found = [
        name
        for name in case.people
        if not _same(name, actor.name) and not _same(name, case.requester)
    ]
    if actor.kind == "operator" and is_requester(actor, case) and len(case.people) < 2:
        return []
    return found


def is_alone(actor: Actor, case: Case) -> bool:
    """Whether nobody else could answer, so that the record has to say so."""
    if any(case.asked.takes_another(each) for each in case.asked.options) and is_requester(
        actor, case
    ):
        return not others(actor, case)
    return not [name for name in case.people if not _same(name, actor.name)]


def _another(case: Case, option: Option) -> Refusal:
    return Refusal(
        missing="another",
        sentence=(
            f"{case.requester} asked for this run, so “{option.label}” takes somebody else. "
            f"{named(case)}"
        ),
    )


def may_choose_unseen(actor: Actor, asked: Asked, option: Option) -> bool:
    """What ends the run sends nothing, so that stays open to those who see no payloads."""
    return may(actor, Verb.VIEW_PAYLOADS) or option.ends_the_run or not asked.has_payloads


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
    voted = {vote.by for vote in case.votes}
    left = [name for name in case.people if name not in voted and not _same(name, case.requester)]
    if not left:
        return "Nobody else may."
    more = f" and {len(left) - most} more" if len(left) > most else ""
    return f"{', '.join(left[:most])}{more} may."
