"""What was asked, read from its stored text: question, options, evidence, the list or the call."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.rules import canonical
from runs.rules.asks import Then
from runs.rules.states import DecisionState

APPROVE, REJECT = "approve", "reject"
APPROVING_KINDS = ("plan", "call")


class NoSuchOption(ValueError):
    """The decision offers no such option; the message lists those it offers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One answer a person may give, with what it will do, in words.

    `details` say what it will do for each of the values that may be filled in.
    """

    key: str
    label: str
    consequence: str
    then: Then
    danger: bool
    fields: Mapping[str, Any]
    details: tuple[str, ...] = ()

    @property
    def ends_the_run(self) -> bool:
        return self.then in ("cancel", "fail")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAsked:
    """The list that is to be approved; its rows stand where the step planned them.

    `generation` is that of the step which planned it; None where the ask does not say.
    """

    name: str
    generation: int | None
    count: int
    digest: str
    effects: Mapping[str, str]
    redact: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """An ask as runs/rules/asks.py made it; `redact` are paths in request and evidence."""

    kind: str
    question: str
    options: tuple[Option, ...]
    evidence: Any
    groups: tuple[str, ...]
    irreversible: bool
    plan: PlanAsked | None
    call: Mapping[str, Any] | None
    quorum: int = 1
    all_of: tuple[str, ...] = ()
    four_eyes: bool | None = None
    always_comment: bool = False
    redact: tuple[str, ...] = ()

    @property
    def has_payloads(self) -> bool:
        return bool(self.evidence or self.plan or self.call)

    @property
    def approves(self) -> bool:
        """Whether an answer allows calls, so that it binds their digest."""
        return self.kind in APPROVING_KINDS

    def option(self, key: str) -> Option:
        for option in self.options:
            if option.key == key:
                return option
        offered = ", ".join(option.key for option in self.options)
        raise NoSuchOption(f"“{key}” is no option of this decision; it offers: {offered}.")

    def grave(self, option: Option) -> bool:
        """What cannot be undone takes a comment and a typed confirmation."""
        return option.danger or (self.irreversible and not option.ends_the_run)

    def takes_another(self, option: Option) -> bool:
        """Whether somebody else than who asked for the run has to choose this."""
        if option.ends_the_run:
            return False
        return self.grave(option) if self.four_eyes is None else self.four_eyes


def asked_of(text: str) -> Asked:
    ask = canonical.loads(text)
    plan, who = ask.get("plan"), ask.get("who", {})
    return Asked(
        kind=ask["kind"],
        question=ask["question"],
        options=tuple(map(_option, ask["options"])),
        evidence=ask.get("evidence"),
        groups=tuple(dict.fromkeys([*ask.get("groups", ()), *who.get("all_of", ())])),
        irreversible=bool(ask.get("irreversible")),
        plan=_plan(plan) if plan else None,
        call=ask.get("call"),
        quorum=who.get("quorum", 1),
        all_of=tuple(who.get("all_of", ())),
        four_eyes=who.get("four_eyes"),
        always_comment=bool(who.get("comment")),
        redact=tuple(ask.get("redact", ())),
    )


def _option(option: Mapping[str, Any]) -> Option:
    return Option(**{**option, "details": tuple(option.get("details", ()))})


def _plan(plan: Mapping[str, Any]) -> PlanAsked:
    return PlanAsked(
        name=plan["name"],
        generation=plan.get("generation"),
        count=plan["count"],
        digest=plan["digest"],
        effects=plan["effects"],
        redact={name: tuple(paths) for name, paths in plan.get("redact", {}).items()},
    )


def digest_of(text: str) -> str:
    """What an answer binds: the list, the call, or else the question with its evidence."""
    asked = asked_of(text)
    if asked.plan is not None:
        return asked.plan.digest
    if asked.call is not None and asked.call.get("digest"):
        return str(asked.call["digest"])
    return canonical.digest(text)


def state_after(asked: Asked, option: Option) -> DecisionState:
    """The state that a decision is in once it is answered."""
    if asked.approves and option.key == APPROVE:
        return DecisionState.APPROVED
    if asked.approves and option.key == REJECT:
        return DecisionState.REJECTED
    return DecisionState.ANSWERED
