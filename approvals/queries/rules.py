"""Rules that approve by themselves: which there are, which one fits, and what one would have done."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, Q, QuerySet

from approvals.models import ApprovalRule, Decision, RuleVersion
from approvals.queries import lists
from approvals.rules.asked import APPROVING_KINDS, asked_of
from approvals.rules.predicate import all_fit, conditions_of
from approvals.rules.timing import timing_of
from runs.definition import registry
from runs.definition.approvals import Approval
from runs.queries.visibility import visible_to
from runs.rules import canonical
from runs.rules.policy import Actor
from runs.rules.states import DecisionState

LOOKED_AT = 20
DECIDED = (DecisionState.APPROVED.value, DecisionState.REJECTED.value)


class NoSuchRule(Exception):
    """There is no such rule, or it belongs to a tenant that this actor does not see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WouldHave:
    """One decision of before: what people answered, and whether the rule would have approved it."""

    decision: Decision
    fits: bool

    @property
    def against(self) -> bool:
        """Whether it would have approved what people rejected."""
        return self.fits and self.decision.state == DecisionState.REJECTED.value


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """What a rule would have done with the last decisions of its place."""

    looked_at: Sequence[WouldHave]

    @property
    def fitting(self) -> int:
        return sum(each.fits for each in self.looked_at)

    @property
    def against(self) -> int:
        """How many of those it would have approved were rejected by people."""
        return sum(each.against for each in self.looked_at)

    @property
    def sentence(self) -> str:
        if not self.looked_at:
            return "No decision of this kind has been answered yet, so nobody can say."
        said = f"It would have approved {self.fitting} of the last {len(self.looked_at)}."
        return f"{said} People rejected {self.against} of these." if self.against else said


@dataclass(frozen=True, slots=True, kw_only=True)
class StayOpen:
    """Decisions that were asked before a rule is enabled: `fitting` of them it would have approved."""

    fitting: int
    more: bool

    @property
    def sentence(self) -> str:
        stay = "It answers what is asked from then on; what is open already stays open, for people."
        if self.more:
            return f"{stay} Of the {LOOKED_AT} that are open longest, {self.fitting} would fit."
        many = "1 decision" if self.fitting == 1 else f"{self.fitting} decisions"
        would = f"{many} that would fit" if self.fitting else "None that would fit"
        return f"{stay} {would} {'is' if self.fitting < 2 else 'are'} open now."


def visible_rules(actor: Actor) -> QuerySet[ApprovalRule]:
    return visible_to(actor, ApprovalRule.objects.all())


def visible_rule(actor: Actor, rule_id: int) -> ApprovalRule:
    found = visible_rules(actor).filter(pk=rule_id).first()
    if found is None:
        raise NoSuchRule(f"There is no rule {rule_id}.")
    return found


def current(rule: ApprovalRule) -> RuleVersion:
    return RuleVersion.objects.select_related("rule").get(rule=rule, number=rule.version)


def current_versions(actor: Actor) -> list[RuleVersion]:
    """What each rule says now, those that are enabled first."""
    rows = RuleVersion.objects.filter(rule__in=visible_rules(actor), number=F("rule__version"))
    return list(rows.select_related("rule").order_by("-rule__enabled", "rule__name")[:500])


def that_fit(decision: Decision, *, now: datetime) -> Iterator[RuleVersion]:
    """Enabled rules of the decision's place that are not used up or over, and fit all its calls."""
    if not is_for_rules(decision):
        return
    rows = RuleVersion.objects.filter(
        Q(step="") | Q(step=decision.step),
        rule__tenant_id=decision.tenant_id,
        rule__enabled=True,
        number=F("rule__version"),
        workflow=decision.workflow,
        ends_at__gt=now,
        used__lt=F("most"),
    )
    for version in rows.select_related("rule").order_by("pk"):
        if fits(version, decision):
            yield version


def is_for_rules(decision: Decision) -> bool:
    """Never what cannot be undone, nor what takes several people, another one, or time to think."""
    if decision.irreversible or decision.kind not in APPROVING_KINDS:
        return False
    asked = asked_of(decision.ask)
    if timing_of(decision.ask).not_before is not None:
        return False
    return asked.quorum == 1 and not asked.all_of and not asked.four_eyes


def fits(version: RuleVersion, decision: Decision) -> bool:
    """Whether every call that is left fits; a list of which nothing is left fits nothing."""
    conditions = conditions_of(version.conditions)
    found = [
        effect == version.effect and all_fit(conditions, request)
        for effect, request in calls_asked(decision)
    ]
    return bool(found) and all(found)


def calls_asked(decision: Decision) -> Iterator[tuple[str, Any]]:
    """Effect and request of each call that an approval would allow."""
    asked = asked_of(decision.ask)
    if asked.call is not None:
        yield str(asked.call["effect"]), asked.call.get("request")
    if asked.plan is None:
        return
    struck = lists.struck_of(decision)
    rows = lists.rows_of(decision, asked.plan).order_by("ordinal")
    named = rows.values_list("ordinal", "effect", "request")
    for ordinal, effect, request in named.iterator(chunk_size=1000):
        if ordinal not in struck:
            yield effect, canonical.loads(request)


def dry_run(version: RuleVersion, *, tenant_id: int) -> DryRun:
    """The last decisions of its place that people answered, and what it would have done with each."""
    answered = _of_its_place(version, tenant_id=tenant_id).filter(state__in=DECIDED)
    by_people = answered.exclude(votes__door="rule")
    last = by_people.select_related("run").order_by("-closed_at", "-pk")[:LOOKED_AT]
    return DryRun(
        looked_at=[WouldHave(decision=each, fits=_would_approve(version, each)) for each in last]
    )


def stay_open(version: RuleVersion, *, tenant_id: int) -> StayOpen:
    """A rule is named when a run asks, so what has been asked before is left to people."""
    rows = _of_its_place(version, tenant_id=tenant_id).filter(
        state=DecisionState.OPEN.value, rule=None, takes_effect_at=None
    )
    open_now = list(rows.order_by("pk")[: LOOKED_AT + 1])
    found = [_would_approve(version, each) for each in open_now[:LOOKED_AT]]
    return StayOpen(fitting=sum(found), more=len(open_now) > LOOKED_AT)


def _of_its_place(version: RuleVersion, *, tenant_id: int) -> QuerySet[Decision]:
    """The decisions of this tenant that stand where a rule of this kind may answer."""
    rows = Decision.objects.filter(
        tenant_id=tenant_id,
        workflow=version.workflow,
        irreversible=False,
        kind__in=APPROVING_KINDS,
    )
    return rows.filter(step=version.step) if version.step else rows


def _would_approve(version: RuleVersion, decision: Decision) -> bool:
    return is_for_rules(decision) and fits(version, decision)


def places() -> list[tuple[str, str]]:
    """Where a rule could answer: each step that asks one person, at once, about what can be undone."""
    found = {
        f"{cls.name}|{declared.key}|{effect.name}": f"{cls.name}, step {declared.key}: {effect.name}"
        for cls in registry.all_workflows()
        for declared in cls.steps
        for effect in declared.effects
        if _leaves_room(declared.approval)
        and not any(each.irreversible for each in declared.effects)
    }
    return sorted(found.items())


def _leaves_room(approval: object) -> bool:
    """The same as `is_for_rules`, of what is declared."""
    if not isinstance(approval, Approval) or approval.four_eyes:
        return False
    slow = approval.timing is not None and approval.timing.not_before is not None
    return approval.quorum == 1 and not approval.all_of and not slow


def draft(
    *,
    workflow: str,
    step: str,
    effect: str,
    conditions: str,
    most: int,
    ends_at: datetime,
    because: str,
) -> RuleVersion:
    """A version that is not kept, to see what it would have done."""
    return RuleVersion(
        workflow=workflow,
        step=step,
        effect=effect,
        conditions=conditions,
        most=most,
        ends_at=ends_at,
        because=because,
    )


def answered_by(rule: ApprovalRule) -> list[Decision]:
    """The last decisions that it answered, the newest first."""
    rows = Decision.objects.filter(rule__rule=rule, votes__door="rule").select_related("run")
    return list(rows.order_by("-closed_at", "-pk")[:LOOKED_AT])


def effects_of(workflow: str, *, step: str = "") -> dict[str, bool]:
    """The effects that the newest version of a workflow declares, and whether each can be undone."""
    try:
        found = registry.latest(workflow)
    except registry.UnknownWorkflow:
        return {}
    return {
        effect.name: not effect.irreversible
        for declared in found.steps
        if step in ("", declared.key)
        for effect in declared.effects
    }
