"""What the command `decisions` says to a person at a terminal."""

from typing import Any

from approvals.ledger.deciding import Decided
from approvals.rules.unseen import plainly

FOLLOWS = {
    "resume": "the run goes on",
    "cancel": "the run is cancelled",
    "fail": "the run stops",
    "correct": "the run goes on with the corrected input",
    "skip": "the run goes on behind the step",
    "replay": "the run goes on from the checkpoint",
    "restart": "a new run takes its place",
    "raise": "the run goes on with its longer deadline",
    "begin": "it takes the old run's place as soon as that one has let go",
}


def lines_of_list(found: list[dict[str, Any]]) -> list[str]:
    if not found:
        return ["No decisions."]
    return [
        plainly(
            f"{one['id']:>6}  {one['state']:9}  {one['workflow']} {one['reference']}  "
            f"{one['question']}"
        )
        for one in found
    ]


def lines_of_one(shown: dict[str, Any]) -> list[str]:
    lines = [
        f"Decision {shown['id']}, {shown['kind']}, {shown['state']}: {shown['question']}",
        f"run {shown['run']} ({shown['workflow']} {shown['reference']}), step {shown['step']}",
        f"asked {shown['opened_at']}; closes {shown['expires_at'] or 'never'}: {shown['then']}",
        f"for {', '.join(shown['groups']) or 'whoever may decide'}",
    ]
    lines += lines_of_who(shown["who"], is_open=shown["state"] == "open")
    if shown["plan"]:
        plan = shown["plan"]
        lines.append(
            f"list {plan['name']}: {plan['count']} calls, {len(plan['struck'])} struck off"
        )
    if shown["call"]:
        lines.append(f"call {shown['call']}")
    if shown["evidence"]:
        lines.append(f"evidence {shown['evidence']}")
    lines.append(f"digest {shown['digest']}")
    for option in shown["options"]:
        mark = "  [needs --comment and --digest]" if option["needs_comment_and_digest"] else ""
        fields = "".join(f" --field {field['name']}=…" for field in option["fields"])
        lines += [f"  {option['key']}{fields}{mark}", f"      {option['consequence']}"]
        lines += [f"      {detail}" for detail in option["details"]]
        lines += [f"      supported: {option['supported_by']}"] if option["supported_by"] else []
    lines += [
        f"answered by {_voter(vote)} at {vote['at']}: {vote['option']}. {vote['comment']}"
        for vote in shown["votes"]
    ]
    lines += [f"call {call}" for call in shown.get("calls", []) if isinstance(call, dict)]
    return [plainly(line) for line in lines]


def lines_of_who(who: dict[str, Any], *, is_open: bool) -> list[str]:
    lines = []
    if who["needed"] > 1:
        by = f": {', '.join(who['by'])}" if who["by"] else ""
        still = f"; still needed: {', '.join(who['still'])}" if who["still"] else ""
        lines.append(f"votes {who['given']} of {who['needed']}{by}{still}")
    if is_open:
        lines.append(f"may answer: {', '.join(who['people']) or 'nobody who is left'}")
        place = f", in the place of {who['in_place_of']}" if who["in_place_of"] else ""
        lines.append(f"you: {who['you']}{place}")
    return lines


def _voter(vote: dict[str, Any]) -> str:
    said = [vote["by"]]
    if vote["in_place_of"]:
        said.append(f"in the place of {vote['in_place_of']}")
    if vote["alone"]:
        said.append("alone")
    if vote["break_glass"]:
        said.append("by breaking the glass")
    if not vote["counts"]:
        said.append(f"counts no more: {vote['because']}")
    return ", ".join(said)


def sentence_of(decided: Decided) -> str:
    if not decided.is_final:
        tally = decided.tally
        return (
            f"Vote recorded: decision {decided.decision_id} has {tally.given} of {tally.needed}. "
            f"Still needed: {', '.join(tally.still)}."
        )
    return f"Recorded: decision {decided.decision_id} is {decided.state}, {FOLLOWS[decided.then]}."
