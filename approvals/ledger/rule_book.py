"""Rules are written, changed, enabled and disabled; what a version says never changes."""

from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet

from approvals.models import ApprovalRule, RuleVersion
from approvals.queries import rules
from approvals.rules.predicate import conditions_of
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.rules.policy import Actor, Verb, may_see_tenant, require

MOST = 10_000


class RuleRefused(ValueError):
    """This cannot be a rule; the message says why, and what could be one."""


class RuleChanged(Exception):
    """Somebody else has changed the rule meanwhile; nothing was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a rule says: where, about which effect, under which conditions, how often, until when."""

    workflow: str
    step: str
    effect: str
    conditions: str
    most: int
    ends_at: datetime
    because: str


@commits("rule_committed")
def write(actor: Actor, *, tenant_id: int, name: str, terms: Terms) -> ApprovalRule:
    """Keep a new rule, which answers nothing until it is enabled.

    Raises NotAllowed, RuleRefused, Unreadable.
    """
    require(actor, Verb.ADMINISTER)
    if not may_see_tenant(actor, tenant_id):
        raise RuleRefused("There is no such tenant.")
    now = db_now()
    require_sound(terms, now=now)
    if not name.strip():
        raise RuleRefused("Give the rule a name: the audit will say it.")
    try:
        with transaction.atomic():
            rule = ApprovalRule.objects.create(
                tenant_id=tenant_id,
                name=name.strip()[:80],
                made_by=actor.name,
                made_at=now,
                changed_by=actor.name,
                changed_at=now,
            )
            _version(rule, terms, number=1, by=actor.name, now=now)
    except IntegrityError:
        raise RuleRefused(f"There is a rule “{name.strip()}” already; change that one.") from None
    return rule


@commits("rule_committed")
def change(actor: Actor, rule_id: int, *, terms: Terms, seen: int | None = None) -> ApprovalRule:
    """Have it say something else, as its next version; it is disabled until it is enabled again.

    Raises NotAllowed, NoSuchRule, RuleRefused, Unreadable, RuleChanged.
    """
    require(actor, Verb.ADMINISTER)
    with transaction.atomic():
        now = db_now()
        rule = rules.visible_rule(actor, rule_id)
        require_sound(terms, now=now)
        moved = _unchanged(rule, seen).update(
            version=F("version") + 1,
            enabled=False,
            seq=F("seq") + 1,
            changed_by=actor.name,
            changed_at=now,
        )
        _require_moved(moved)
        rule.refresh_from_db()
        _version(rule, terms, number=rule.version, by=actor.name, now=now)
    return rule


@commits("rule_committed")
def enable(actor: Actor, rule_id: int, *, enabled: bool, seen: int | None = None) -> ApprovalRule:
    """Let it answer from now on, or no more. Raises NotAllowed, NoSuchRule, RuleRefused, RuleChanged."""
    require(actor, Verb.ADMINISTER)
    with transaction.atomic():
        now = db_now()
        rule = rules.visible_rule(actor, rule_id)
        if enabled:
            require_reversible(rules.current(rule))
        moved = _unchanged(rule, seen).update(
            enabled=enabled, seq=F("seq") + 1, changed_by=actor.name, changed_at=now
        )
        _require_moved(moved)
        rule.refresh_from_db()
    return rule


def require_sound(terms: Terms, *, now: datetime) -> None:
    """Raises RuleRefused, Unreadable."""
    conditions_of(terms.conditions)
    require_reversible(terms)
    if terms.ends_at <= now:
        raise RuleRefused("It would have ended already: give a day that is still to come.")
    if not 1 <= terms.most <= MOST:
        raise RuleRefused(f"How often: a whole number from 1 to {MOST:,}.")
    if not terms.because.strip():
        raise RuleRefused("Say why nobody needs to look: it stands in the record of each answer.")


def require_reversible(terms: Terms | RuleVersion) -> None:
    """Never what cannot be undone, and never what nobody declares."""
    known = rules.effects_of(terms.workflow, step=terms.step)
    if terms.effect not in known:
        named = ", ".join(sorted(name for name, undone in known.items() if undone)) or "none"
        place = f"{terms.workflow} {terms.step}".strip()
        raise RuleRefused(f"“{place}” declares no effect “{terms.effect}”. Reversible: {named}.")
    if not known[terms.effect]:
        raise RuleRefused(
            f"{terms.effect} cannot be undone, so a person looks at each call. No rule may."
        )


def _version(
    rule: ApprovalRule, terms: Terms, *, number: int, by: str, now: datetime
) -> RuleVersion:
    return RuleVersion.objects.create(
        rule=rule,
        number=number,
        workflow=terms.workflow,
        step=terms.step,
        effect=terms.effect,
        conditions=terms.conditions.strip(),
        most=terms.most,
        ends_at=terms.ends_at,
        because=terms.because.strip(),
        by=by,
        at=now,
    )


def _unchanged(rule: ApprovalRule, seen: int | None) -> QuerySet[ApprovalRule]:
    return ApprovalRule.objects.filter(pk=rule.pk, seq=rule.seq if seen is None else seen)


def _require_moved(moved: int) -> None:
    if not moved:
        raise RuleChanged("Somebody has changed the rule meanwhile. Look at it as it is now.")
