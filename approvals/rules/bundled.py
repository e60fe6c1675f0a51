"""Whether the decisions in a bundle hold together: what was asked, shown, answered and bound."""

from collections.abc import Iterator, Mapping
from typing import Any

from runs.rules import canonical
from runs.rules.bundle import Bundle
from runs.rules.planned import call_digest, list_digest


def decisions_hold(bundle: Bundle) -> Iterator[str]:
    """What was asked is what its digest says, and an approved list is the calls that were left."""
    planned = bundle.lines("planned_calls.jsonl")
    # Votes that agreed have struck off the same; those that counted no more bound another list.
    votes = {
        (one["decision_id"], one["digest"]): one for one in bundle.lines("decision_votes.jsonl")
    }
    for place, one in enumerate(bundle.lines("decisions.jsonl"), start=1):
        if canonical.digest(one["ask"]) != one["ask_digest"]:
            yield f"decisions.jsonl line {place}: the ask is not what its digest was made of"
        elif one["kind"] == "plan" and one["approved_digest"]:
            vote = votes.get((one["id"], one["approved_digest"]))
            made = _left(canonical.loads(one["ask"])["plan"], one, vote, planned)
            if made != one["approved_digest"]:
                yield (
                    f"decisions.jsonl line {place}: the calls in planned_calls.jsonl that were not "
                    "struck off are not those that were approved"
                )


def _left(
    plan: Mapping[str, Any],
    decision: Mapping[str, Any],
    vote: Mapping[str, Any] | None,
    planned: list[dict[str, Any]],
) -> str:
    """The digest of what is left of the list, made again from the bytes."""
    struck = set(canonical.loads(vote["struck"])) if vote else set()
    place = (plan["name"], plan.get("generation") or decision["generation"])
    rows = [row for row in planned if (row["plan"], row["generation"]) == place]
    return list_digest(
        call_digest(
            effect=row["effect"],
            fingerprint=plan["effects"][row["effect"]],
            resource=row["resource"],
            request=row["request"],
            evidence=row["evidence"],
        )
        for row in sorted(rows, key=lambda row: int(row["ordinal"]))
        if row["ordinal"] not in struck
    )


def records_hold(bundle: Bundle) -> Iterator[str]:
    """Each kept page is what its digest was made of, and the run's chain names that digest."""
    told = "\n".join(event["body"] for event in bundle.lines("audit.jsonl"))
    kept = bundle.lines("decision_records.jsonl")
    for place, one in enumerate(kept, start=1):
        if canonical.digest(one["sheet"]) != one["digest"]:
            yield f"decision_records.jsonl line {place}: is not the page that was shown"
        elif one["digest"] not in told:
            yield f"decision_records.jsonl line {place}: the run's chain does not name this page"
    shown = {one["vote_id"] for one in kept}
    for place, vote in enumerate(bundle.lines("decision_votes.jsonl"), start=1):
        if shown and vote["id"] not in shown:
            yield f"decision_votes.jsonl line {place}: the page that was answered is missing"
