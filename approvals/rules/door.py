"""Who may answer a decision, and with which option: the one door of page, command and link."""

from dataclasses import dataclass
from typing import Literal

from approvals.rules.asked import Asked, Option
from runs.rules.policy import Actor, Verb, in_any_group, may

Missing = Literal["permission", "group", "payloads"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why this actor may not do this; the sentence says who may."""

    missing: Missing
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What the door needs to know of a decision."""

    groups: frozenset[str]
    asked: Asked


class NotYours(Exception):
    """The door stays shut for this actor; the message says who may answer."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.sentence)
        self.refusal = refusal


def refusal(actor: Actor, case: Case, option: Option | None = None) -> Refusal | None:
    """None when the actor may answer, and with this option where one is named."""
    if not may(actor, Verb.DECIDE):
        return Refusal(
            missing="permission",
            sentence=f"{actor.name} lacks the permission “{Verb.DECIDE}”. {who_may(case.groups)}",
        )
    if not in_any_group(actor, case.groups):
        return Refusal(
            missing="group",
            sentence=f"{actor.name} is in none of its groups. {who_may(case.groups)}",
        )
    if option is not None and not may_choose_unseen(actor, case.asked, option):
        return Refusal(
            missing="payloads",
            sentence=(
                f"“{option.label}” needs the permission “{Verb.VIEW_PAYLOADS}”: nobody agrees to "
                "what they may not see whole."
            ),
        )
    return None


def may_choose_unseen(actor: Actor, asked: Asked, option: Option) -> bool:
    """What ends the run sends nothing, so that stays open to those who see no payloads."""
    return may(actor, Verb.VIEW_PAYLOADS) or option.ends_the_run or not asked.has_payloads


def who_may(groups: frozenset[str]) -> str:
    """The sentence that names who may answer."""
    if not groups:
        return f"Whoever has the permission “{Verb.DECIDE}” may answer."
    named = " or ".join(f"“{name}”" for name in sorted(groups))
    return f"People in {named} with the permission “{Verb.DECIDE}” may answer, and administrators."
