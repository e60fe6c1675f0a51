"""What a step and an effect declare, as plain facts, and the digest of exactly that."""

import inspect
from datetime import timedelta
from typing import Any

from runs.definition.approvals import Approval, Waived
from runs.definition.effects import Effect
from runs.definition.step import Retry, StepDeclaration
from runs.rules import canonical


def fingerprint(declared: StepDeclaration) -> str:
    """The digest of a step's declaration: not of its name, place, documentation or code."""
    return digest_of(
        {
            "scope": declared.scope,
            "reads": sorted(declared.reads),
            "writes": sorted(declared.writes),
            "effects": sorted(effect_fingerprint(effect) for effect in declared.effects),
            "approval": approval_facts(declared.approval),
            "retry": retry_facts(declared.retry),
            "timeout": seconds(declared.timeout),
            "transactional": declared.transactional,
            "on_exhausted": declared.on_exhausted,
            **({"restarts": declared.restarts} if declared.restarts else {}),
            **({"may_skip": True} if declared.may_skip else {}),
        }
    )


def effect_fingerprint(effect: Effect) -> str:
    """The digest of what an effect promises; a decision on its calls is bound to it."""
    return digest_of(effect_facts(effect))


def code_digest(declared: StepDeclaration) -> str:
    """The digest of a step's source text, for the question whether its code changed; empty if unknown."""
    try:
        return canonical.digest(inspect.getsource(declared.body))
    except (OSError, TypeError):
        return ""


def effect_facts(effect: Effect) -> dict[str, Any]:
    """What a plan says of an effect."""
    contract, probe = effect.contract, effect.look_up
    return {
        "name": effect.name,
        "has_contract": contract is not None,
        "contract": contract.promise if contract else None,
        "window": seconds(contract.window) if contract else None,
        "has_probe": probe is not None,
        "settles": seconds(probe.settles) if probe else None,
        "timeout": seconds(effect.timeout),
        "reversible": effect.reversible,
        "compensated": effect.compensate is not None,
        "irreversible": effect.irreversible,
        **({"relay": True} if effect.relay else {}),
        **({"redact": sorted(effect.redact)} if effect.redact else {}),
    }


def approval_facts(approval: Approval | Waived | None) -> dict[str, Any] | None:
    """What a plan says of who is asked first, or why nobody is."""
    match approval:
        case Approval():
            return {
                "of": approval.of,
                "groups": sorted(approval.groups),
                "expires": seconds(approval.expires),
                "on_expiry": approval.on_expiry,
                "waived": None,
                **who_facts(approval),
                **({"timing": approval.timing.told()} if approval.timing else {}),
            }
        case Waived():
            return {
                "of": None,
                "groups": [],
                "expires": None,
                "on_expiry": "stay",
                "waived": approval.reason,
            }
    return None


def who_facts(approval: Approval) -> dict[str, Any]:
    """What it says beyond one person of its groups; nothing where it says no more."""
    return {
        **({"quorum": approval.quorum} if approval.quorum != 1 else {}),
        **({"all_of": sorted(approval.all_of)} if approval.all_of else {}),
        **({"four_eyes": approval.four_eyes} if approval.four_eyes is not None else {}),
        **({"comment": True} if approval.comment else {}),
    }


def retry_facts(retry: Retry) -> dict[str, Any]:
    """What a plan says of trying again."""
    return {
        "attempts": retry.attempts,
        "base": seconds(retry.base),
        "factor": float(retry.factor),
        "maximum": seconds(retry.maximum),
        "jitter": float(retry.jitter),
        "give_up_on": sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in retry.give_up_on),
    }


def seconds(length: timedelta | None) -> float | None:
    """A length of time as plans write it."""
    return None if length is None else length.total_seconds()


def digest_of(value: Any) -> str:
    """The digest of a value's canonical text."""
    return canonical.digest(canonical.dumps(value))
