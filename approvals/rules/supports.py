"""Which option the evidence supports: it is labelled, and never chosen."""

from dataclasses import dataclass
from typing import Any

from approvals.rules.asked import Asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """The key of an option, and what speaks for it."""

    option: str
    because: str


def supported(asked: Asked) -> Support | None:
    """None where the evidence speaks for nothing, or for two things at once."""
    if asked.kind != "reconcile" or not isinstance(asked.evidence, dict):
        return None
    return _about_a_call(asked.evidence)


def _about_a_call(evidence: dict[str, Any]) -> Support | None:
    found = evidence.get("probe") == "found"
    late = evidence.get("late_answers")
    missing = evidence.get("probe") == "not found" and evidence.get("probe_settled")
    if missing and late:
        return None
    if found:
        known = evidence.get("receiver_id")
        named = f" as {known}" if known else ""
        return Support(option="happened", because=f"the receiver has it{named}")
    if late:
        return Support(option="happened", because="an answer came back late")
    if missing:
        return Support(
            option="did_not", because="the receiver does not have it, and the sender is gone"
        )
    return None
