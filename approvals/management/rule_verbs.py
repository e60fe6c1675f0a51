"""The verbs of `decisions rules`: list, show with a dry run, write, change, enable, disable."""

from argparse import ArgumentParser
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Any

from approvals.ledger import rule_book
from approvals.queries import rules
from approvals.rules.predicate import Unreadable
from runs.queries import naming
from runs.queries.clock import db_now
from runs.queries.memberships import DEFAULT
from runs.rules.policy import Actor, NotAllowed

if TYPE_CHECKING:
    from approvals.models import RuleVersion

WRONG = (rules.NoSuchRule, rule_book.RuleChanged, NotAllowed)
MISUSED = (rule_book.RuleRefused, Unreadable)


def add(verbs: Any) -> list[ArgumentParser]:
    """What each of them takes; the caller adds what all verbs take."""
    parser = verbs.add_parser("rules", help="rules that approve what can be undone")
    under = parser.add_subparsers(
        dest="rule_verb", required=True, metavar="list|show|add|change|dry-run|enable|disable"
    )
    made = {
        "list": under.add_parser("list", help="every rule, what it says and how often it answered"),
        "show": under.add_parser("show", help="one rule, with what it would have done"),
        "add": under.add_parser("add", help="write a rule, which is disabled at first"),
        "change": under.add_parser("change", help="have it say something else: its next version"),
        "dry-run": under.add_parser("dry-run", help="what a rule would have done, nothing is kept"),
        "enable": under.add_parser("enable", help="let it answer from now on"),
        "disable": under.add_parser("disable", help="let it answer no more"),
    }
    for verb in ("show", "change", "enable", "disable"):
        made[verb].add_argument("id", type=int)
    made["add"].add_argument("name")
    for verb in ("add", "change", "dry-run"):
        _add_terms(made[verb])
    for verb in ("add", "dry-run"):
        made[verb].add_argument("--tenant", default=DEFAULT)
    return list(made.values())


def _add_terms(parser: ArgumentParser) -> None:
    parser.add_argument("--workflow", required=True)
    parser.add_argument("--step", default="", help="left out: any step")
    parser.add_argument("--effect", required=True)
    parser.add_argument(
        "--condition", action="append", default=[], metavar="LINE", help="such as 'amount <= 100'"
    )
    parser.add_argument("--most", type=int, default=100, help="how many decisions it may answer")
    parser.add_argument("--ends", required=True, type=_day, metavar="YYYY-MM-DD")
    parser.add_argument("--because", default="", help="why nobody has to look")


def _day(text: str) -> datetime:
    """Until the end of that day, in UTC."""
    return datetime.combine(datetime.fromisoformat(text).date(), time(23, 59, 59), tzinfo=UTC)


def said(actor: Actor, verb: str, options: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Do it; what it came to, as data and as lines."""
    match verb:
        case "list":
            found = [_told(version) for version in rules.current_versions(actor)]
            return {"rules": found}, [_line(one) for one in found] or ["No rules."]
        case "show":
            return _shown(actor, options["id"])
        case "dry-run":
            return _dry(actor, options)
        case "enable" | "disable":
            enabled = verb == "enable"
            rule = rule_book.enable(actor, options["id"], enabled=enabled)
            if enabled:
                return _enabled(rules.current(rule))
        case "change":
            rule = rule_book.change(actor, options["id"], terms=_terms(options))
        case _:
            rule = rule_book.write(
                actor,
                tenant_id=_tenant(actor, options),
                name=options["name"],
                terms=_terms(options),
            )
    value = _told(rules.current(rule))
    return value, [_line(value)]


def _enabled(version: "RuleVersion") -> tuple[dict[str, Any], list[str]]:
    """With what it does not do: answer what was asked before."""
    stay = rules.stay_open(version, tenant_id=version.rule.tenant_id)
    value = {**_told(version), "stay_open": {"fitting": stay.fitting, "more": stay.more}}
    return value, [_line(value), stay.sentence]


def _terms(options: dict[str, Any]) -> rule_book.Terms:
    return rule_book.Terms(
        workflow=options["workflow"],
        step=options["step"],
        effect=options["effect"],
        conditions="\n".join(options["condition"]),
        most=options["most"],
        ends_at=options["ends"],
        because=options["because"],
    )


def _tenant(actor: Actor, options: dict[str, Any]) -> int:
    found = naming.tenant_named(actor, options["tenant"])
    if found is None:
        raise rule_book.RuleRefused(f"There is no tenant “{options['tenant']}” that you belong to.")
    return found


def _shown(actor: Actor, rule_id: int) -> tuple[dict[str, Any], list[str]]:
    rule = rules.visible_rule(actor, rule_id)
    version = rules.current(rule)
    dry, value = rules.dry_run(version, tenant_id=rule.tenant_id), _told(version)
    value |= {"dry_run": _told_of(dry)}
    lines = [_line(value), *(f"  {line}" for line in version.conditions.splitlines())]
    return value, [*lines, f"  because {version.because}", *_lines_of(dry)]


def _dry(actor: Actor, options: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    terms = _terms({**options, "because": options["because"] or "a dry run"})
    rule_book.require_sound(terms, now=db_now())
    version = rules.draft(
        **{name: getattr(terms, name) for name in rule_book.Terms.__dataclass_fields__}
    )
    dry = rules.dry_run(version, tenant_id=_tenant(actor, options))
    return {"dry_run": _told_of(dry)}, _lines_of(dry)


def _told(version: "RuleVersion") -> dict[str, Any]:
    rule = version.rule
    return {
        "id": rule.pk,
        "name": rule.name,
        "enabled": rule.enabled,
        "version": version.number,
        "workflow": version.workflow,
        "step": version.step,
        "effect": version.effect,
        "conditions": version.conditions.splitlines(),
        "most": version.most,
        "used": version.used,
        "ends_at": version.ends_at.isoformat(),
        "because": version.because,
    }


def _line(told: dict[str, Any]) -> str:
    state = "enabled" if told["enabled"] else "disabled"
    place = f"{told['workflow']} {told['step']}".strip()
    return (
        f"{told['id']:>4}  {state:8}  {told['name']} (version {told['version']}): {told['effect']} "
        f"of {place}, answered {told['used']} of {told['most']}, until {told['ends_at'][:10]}"
    )


def _told_of(dry: rules.DryRun) -> dict[str, Any]:
    return {
        "looked_at": len(dry.looked_at),
        "would_have_approved": dry.fitting,
        "of_these_rejected": dry.against,
        "decisions": [
            {"id": each.decision.pk, "state": each.decision.state, "fits": each.fits}
            for each in dry.looked_at
        ],
    }


def _lines_of(dry: rules.DryRun) -> list[str]:
    return [
        dry.sentence,
        *(
            f"  decision {each.decision.pk}, {each.decision.state}: "
            f"{'fits' if each.fits else 'does not fit'}"
            for each in dry.looked_at
        ),
    ]
