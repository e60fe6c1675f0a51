"""When decisions are alike enough to be answered together: same place, same effects, same options."""

from typing import Any

from approvals.rules.asked import APPROVING_KINDS
from runs.rules import canonical

TOGETHER = (*APPROVING_KINDS, "question")


def shape_of(text: str, *, workflow: str, step: str) -> str:
    """The digest of what is alike in them; empty where each has to be read for itself.

    How many calls a list holds, and what they say, is not part of it: that is shown with each.
    """
    ask = canonical.loads(text)
    if ask["irreversible"] or ask["kind"] not in TOGETHER:
        return ""
    offered = [option for option in ask["options"] if not option["danger"]]
    shape = {
        "workflow": workflow,
        "step": step,
        "kind": ask["kind"],
        "groups": sorted(ask["groups"]),
        "who": ask.get("who"),
        "options": [_option(option) for option in offered],
        "about": _about(ask),
    }
    return canonical.digest(canonical.dumps(shape))


def _option(option: dict[str, Any]) -> dict[str, Any]:
    return {name: option[name] for name in ("key", "label", "then", "fields")}


def _about(ask: dict[str, Any]) -> Any:
    if ask.get("plan"):
        return [ask["plan"]["name"], ask["plan"]["effects"]]
    if ask.get("call"):
        call = ask["call"]
        return [call["effect"], call.get("fingerprint"), sorted(names_in(call.get("request")))]
    return ask["question"]


def names_in(value: Any, before: str = "") -> set[str]:
    """The names a request uses, with those inside of others."""
    if not isinstance(value, dict):
        return set()
    found = {f"{before}{name}" for name in value}
    for name, inner in value.items():
        found |= names_in(inner, f"{before}{name}.")
    return found
