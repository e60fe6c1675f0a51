"""What happened before somebody is asked, in sentences."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from approvals.rules.asked import Asked
from runs.rules.words import of


def what_happened(asked: Asked, *, step: str) -> list[str]:
    """What led to the question; each kind of decision tells it from its own evidence."""
    evidence = asked.evidence if isinstance(asked.evidence, Mapping) else {}
    if asked.plan is not None:
        return [
            f"{of(asked.plan.count, 'call')} had been planned under the name "
            f"“{asked.plan.name}” when the list was sealed. None had been made.",
        ]
    if asked.kind == "reconcile" and asked.call is not None:
        return _reconcile(asked.call, evidence)
    told = TOLD.get(asked.kind, "Step {step} asks before it goes on.")
    return [told.format_map(_Known({**evidence, "step": step}))]


class _Known(dict[str, Any]):
    """What the evidence does not say is left open in the sentence."""

    def __missing__(self, name: str) -> str:
        return "not known"


TOLD = {
    "call": "Step {step} is about to make a call that no approved list covers.",
    "conflict": (
        "Step {step} was entered again and asked for the same resource with another request than "
        "before. Nothing was sent for the new one."
    ),
    "orphaned call": "Step {step} came to its end without naming calls that it made earlier.",
    "give up": "Its last error: {error}",
    "crashes": "Each time its worker was lost. Last: {last}",
    "version": (
        "It was begun under version {from[version]}, whose code no live worker had when step {step} "
        "was to go on; the code that ran had version {to[version]}."
    ),
    "restart": (
        "Run {restart_of} is to be begun anew as this one: {because}. What is listed has happened "
        "already, or may have, and would happen a second time. Nothing has begun."
    ),
    "limit": (
        "{used} of {allowed} were used, {of_it_waiting_for_others} of it waiting for others; time "
        "spent waiting for people or paused does not count. What the run has come to is kept as "
        "{progress}."
    ),
    "refused": "The receiver said no for certain: {reason}",
}


def _reconcile(call: Mapping[str, Any], evidence: Mapping[str, Any]) -> list[str]:
    sent = f"The request was sent {of(int(call['sends']), 'time')}"
    said = [f"{sent}, last at {_at(evidence.get('sent_at'))}, under key {call['key']}."]
    if evidence.get("error"):
        said.append(f"What came back: {evidence['error']}")
    if str(evidence.get("probe", "")).startswith("failed"):
        said.append(f"Its probe {evidence['probe']}, at {_at(evidence.get('asked_at'))}.")
    elif evidence.get("probe"):
        said.append(_looked_up(evidence))
    said.append(f"A person is asked because {evidence.get('why', 'nobody else can tell')}.")
    return said


def _looked_up(evidence: Mapping[str, Any]) -> str:
    asked = f"The receiver was asked at {_at(evidence.get('asked_at'))}: {evidence['probe']}"
    if evidence["probe"] == "found":
        known = evidence.get("receiver_id")
        return f"{asked}, as {known}." if known else f"{asked}."
    if evidence.get("probe_settled"):
        return f"{asked}; the old sender is gone, and the receiver has had its time."
    return f"{asked}; that does not count while the old sender may still send."


def _at(text: Any) -> str:
    """A time as people read it; the engine writes ISO."""
    try:
        return f"{datetime.fromisoformat(str(text)):%Y-%m-%d %H:%M:%S} UTC"
    except ValueError:
        return "an unknown time"
