"""Whether the decisions in a bundle hold together: what was asked, shown, answered and bound."""

from collections.abc import Iterator, Mapping
from typing import Any

from approvals.rules import binding
from approvals.rules.asked import asked_of, state_after
from approvals.rules.states import ANSWERS
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
    there = {one["digest"] for one in kept}
    for event, body in _told(bundle):
        if body.get("record", "") not in ("", *there):
            yield f"decision_records.jsonl: the page that event {event['seq']} names is missing"
    shown = {one["vote_id"] for one in kept}
    for place, vote in enumerate(bundle.lines("decision_votes.jsonl"), start=1):
        if shown and vote["id"] not in shown:
            yield f"decision_votes.jsonl line {place}: the page that was answered is missing"


def answers_hold(bundle: Bundle) -> Iterator[str]:
    """Who answered what, and how each decision ended, is what the run's chain says of it."""
    told = list(_told(bundle))
    yield from _unlike_votes(bundle, told)
    yield from _unlike_rows(bundle, told)
    yield from _unlike_ends(bundle, told)


Told = tuple[Mapping[str, Any], dict[str, Any]]


def _told(bundle: Bundle) -> Iterator[Told]:
    """The events of the chain that are about a decision, each with its body."""
    for event in bundle.lines("audit.jsonl"):
        body = canonical.loads(event["body"]) if event["body"] else None
        if isinstance(body, dict) and "decision" in body:
            yield event, body


def _unlike_votes(bundle: Bundle, told: list[Told]) -> Iterator[str]:
    records = {one["vote_id"]: one["digest"] for one in bundle.lines("decision_records.jsonl")}
    first: dict[str, Told] = {}
    for event, body in told:
        first.setdefault(body.get("record", ""), (event, body))
    for place, vote in enumerate(bundle.lines("decision_votes.jsonl"), start=1):
        if (digest := records.get(vote["id"])) is None or digest not in first:
            continue
        event, body = first[digest]
        said = {"by": vote["by"], **_said(vote)}
        known = {**dict.fromkeys(said, ""), **body, "by": event["actor"]}
        # What a rule answered is told in fewer words than what a person did.
        unlike = [name for name in said if name in body | {"by": ""} and said[name] != known[name]]
        if "alone" in body:
            unlike += [
                name for name in ("in_place_of", "glass_broken") if said[name] != known[name]
            ]
        for name in sorted(set(unlike)):
            yield f"decision_votes.jsonl line {place}: {name} is not what event {event['seq']} says"
        if not unlike and body.get("vote_digest") not in (None, binding.vote_digest(vote)):
            yield (
                f"decision_votes.jsonl line {place}: the vote is not the one that event "
                f"{event['seq']} binds"
            )


def _unlike_rows(bundle: Bundle, told: list[Told]) -> Iterator[str]:
    """Strikes and claims are those that the answer has bound; before one they may still change."""
    last = {body["decision"]: (event, body) for event, body in told if "strikes_digest" in body}
    answers = {state.value for state in ANSWERS}
    parts = (
        ("decision_strikes.jsonl", "strikes", binding.strikes_digest),
        ("decision_claims.jsonl", "claims", binding.claims_digest),
    )
    for one in bundle.lines("decisions.jsonl"):
        if one["state"] not in answers or one["id"] not in last:
            continue
        event, body = last[one["id"]]
        for part, what, digest_of in parts:
            rows = [row for row in bundle.lines(part) if row["decision_id"] == one["id"]]
            if digest_of(rows) != body[f"{what}_digest"]:
                yield (
                    f"{part}: the {what} of decision {one['id']} are not those that event "
                    f"{event['seq']} binds"
                )


def unbound(bundle: Bundle) -> Iterator[str]:
    """What a bundle of an older release cannot show, because its chain does not name it."""
    records = {one["vote_id"]: one["digest"] for one in bundle.lines("decision_records.jsonl")}
    binds = {body.get("record") for _, body in _told(bundle) if "vote_digest" in body}
    votes = bundle.lines("decision_votes.jsonl")
    if older := sum(records.get(vote["id"]) not in binds for vote in votes):
        many = "1 vote was" if older == 1 else f"{older} votes were"
        yield (
            f"{many} given under an older release: nothing shows that fields, strikes, claims and "
            "addresses that belong to it are as they were."
        )


def _said(vote: Mapping[str, Any]) -> dict[str, Any]:
    """A vote as the chain tells it."""
    return {
        "decision": vote["decision_id"],
        "option": vote["option"],
        "digest": vote["digest"],
        "struck": len(canonical.loads(vote["struck"])),
        "comment_digest": canonical.digest(vote["comment"]) if vote["comment"] else "",
        "alone": vote["alone"],
        "door": vote["door"],
        "in_place_of": vote["on_behalf_of"],
        "glass_broken": vote["break_glass"] or "",
    }


def _unlike_ends(bundle: Bundle, told: list[Told]) -> Iterator[str]:
    ends = {body["decision"]: body for event, body in told if event["kind"] == "wait.closed"}
    answers = {state.value for state in ANSWERS}
    for place, one in enumerate(bundle.lines("decisions.jsonl"), start=1):
        end = ends.get(one["id"])
        found = (one["state"], one["option"], one["closed_by"], one["approved_digest"])
        if end is None and one["state"] not in answers:
            continue
        if end is None or found != _ended(one, end):
            yield f"decisions.jsonl line {place}: did not end as the run's chain says"


def _ended(decision: Mapping[str, Any], end: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """State, option, person and digest of a decision that was answered."""
    asked = asked_of(decision["ask"])
    state = state_after(asked, asked.option(end["option"])).value
    return state, end["option"], end["by"], end["digest"] if state == "approved" else ""
