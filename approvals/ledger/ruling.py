"""A rule answers what can be undone: it is named when a run asks, and the clock has it answer."""

from datetime import datetime

from django.db import transaction
from django.db.models import F

from approvals.ledger import noticing, records, taking_effect, voting
from approvals.ledger.holding import DecisionClosed, held
from approvals.models import Decision, RuleVersion, Vote
from approvals.queries import lists, rules
from approvals.queries.grounds import moved_under
from approvals.rules.asked import APPROVE, asked_of
from runs.ledger import waking
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.policy import system
from runs.rules.states import DecisionState

DOOR = "rule"


def nominate(decision: Decision, *, now: datetime) -> bool:
    """Name the rule that is to answer, if one fits; the caller owns the transaction."""
    version = next(rules.that_fit(decision, now=now), None)
    if version is None:
        return False
    Decision.objects.filter(pk=decision.pk, irreversible=False).update(rule=version)
    decision.rule = version
    return True


@commits("rule_applied")
def answer(decision_id: int) -> bool:
    """Have the named rule answer; False when somebody was first, or it does not fit any more.

    Then people are asked, as they would have been without it.
    """
    with transaction.atomic():
        now = db_now()
        try:
            decision = held(system("rules"), decision_id, now=now)
        except DecisionClosed:
            return False
        version = _usable(decision, now=now)
        if version is None:
            _leave_to_people(decision)
            return False
        _approve(decision, version, now=now)
    return True


def _usable(decision: Decision, *, now: datetime) -> RuleVersion | None:
    """The rule, counted as used once more: it is asked again whether it counts, and fits."""
    version = RuleVersion.objects.select_related("rule").filter(decisions=decision).first()
    if version is None or not rules.is_for_rules(decision) or not rules.fits(version, decision):
        return None
    if not _is_as_shown(decision) or moved_under(decision):
        return None
    usable = RuleVersion.objects.filter(
        pk=version.pk,
        rule__enabled=True,
        rule__version=version.number,
        ends_at__gt=now,
        used__lt=F("most"),
    )
    # An update does not join on every database: the rule is named by its id.
    counted = RuleVersion.objects.filter(pk__in=usable.values("pk"), used__lt=F("most"))
    return version if counted.update(used=F("used") + 1) else None


def _is_as_shown(decision: Decision) -> bool:
    """Whether the bytes are those that the digest covers, as for a person's answer."""
    if decision.wait.subject != decision.ask:
        return False
    if canonical.digest(decision.ask) != decision.ask_digest:
        return False
    if decision.kind != "plan":
        return True
    left = lists.remaining(decision, lists.struck_of(decision))
    return left.digest == decision.digest and left.count > 0 and not lists.altered(decision)


def _leave_to_people(decision: Decision) -> None:
    Decision.objects.filter(pk=decision.pk, state=DecisionState.OPEN.value).update(
        rule=None, seq=F("seq") + 1
    )
    groups = list(decision.audience.values_list("group", flat=True))
    noticing.tell_opened(decision, groups=groups)


def _approve(decision: Decision, version: RuleVersion, *, now: datetime) -> None:
    asked = asked_of(decision.ask)
    chosen = asked.option(APPROVE)
    vote = Vote.objects.create(
        decision=decision,
        by=str(version),
        option=chosen.key,
        comment=version.because,
        digest=decision.digest,
        struck=canonical.dumps(sorted(lists.struck_of(decision))),
        alone=False,
        door=DOOR,
        at=now,
    )
    record = records.keep(system("rules"), decision, vote)
    taking_effect.close(decision, asked, chosen, vote, at=now)
    waking.answer(
        decision.wait_id,
        answer=taking_effect.answer_of(vote),
        by=vote.by,
        then=chosen.then,
        because=f"{vote.by} approved decision {decision.pk}",
        facts={
            "decision": decision.pk,
            "option": vote.option,
            "digest": vote.digest,
            "rule": version.rule.name,
            "version": version.number,
            "door": DOOR,
            "record": record,
            **voting.bound(vote),
        },
    )
