"""Who may answer a decision, and with which option: the one door of page, command and link."""

from dataclasses import dataclass
from typing import Literal

from approvals.rules.asked import Asked, Option
from approvals.rules.case import Case, Requester, Standing, named, same_person, who_may
from approvals.rules.quorum import tally
from runs.rules.policy import Actor, Verb, may

Missing = Literal["permission", "group", "payloads", "vote", "another", "administrator"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why this actor may not do this; the sentence says who may."""

    missing: Missing
    sentence: str


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
        return _another(actor, case, option)
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
        own = same_person(vote.by, actor.name)
        if own or (actor.user_id and vote.user_id == actor.user_id):
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
    """Whether the actor, or who the actor would answer for, has made the run what it is."""
    return _request_of(actor, case) is not None


def _request_of(actor: Actor, case: Case) -> Requester | None:
    found = standing(actor, case)
    behalf = found.on_behalf_of if isinstance(found, Standing) else ""
    return case.request_of(actor.name) or (case.request_of(behalf) if behalf else None)


def others(actor: Actor, case: Case) -> list[str]:
    """Who else may answer. An account of the machine is nobody else than the only person."""
    found = [
        name
        for name in case.people
        if not same_person(name, actor.name) and case.request_of(name) is None
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
    return not [name for name in case.people if not same_person(name, actor.name)]


def _another(actor: Actor, case: Case, option: Option) -> Refusal:
    asked = _request_of(actor, case)
    assert asked is not None  # noqa: S101 - they are a requester
    return Refusal(
        missing="another",
        sentence=(
            f"{asked.name} {asked.did}, so “{option.label}” takes somebody else. {named(case)}"
        ),
    )


def may_choose_unseen(actor: Actor, asked: Asked, option: Option) -> bool:
    """What ends the run sends nothing, so that stays open to those who see no payloads."""
    return may(actor, Verb.VIEW_PAYLOADS) or option.ends_the_run or not asked.has_payloads
