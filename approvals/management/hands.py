"""The verbs of `decisions` about whose hands a decision is in: claim, release, hand over, take back."""

from argparse import ArgumentParser
from typing import Any

from approvals.ledger import claiming, handing_over, withdrawing
from runs.rules.policy import Actor

VERBS = ("claim", "release", "hand-over", "withdraw")
WRONG = (
    claiming.ClaimedByOther,
    claiming.NotClaimed,
    handing_over.MayNotAnswer,
    withdrawing.NothingToWithdraw,
)


def add(verbs: Any) -> list[ArgumentParser]:
    """What each of them takes; the caller adds what all verbs take."""
    made: dict[str, ArgumentParser] = {
        "claim": verbs.add_parser("claim", help="say that you read it, for ten minutes"),
        "release": verbs.add_parser("release", help="say that you do not read it any more"),
        "hand-over": verbs.add_parser("hand-over", help="have somebody else answer, and tell them"),
        "withdraw": verbs.add_parser(
            "withdraw", help="take your answer back before it takes effect"
        ),
    }
    for parser in made.values():
        parser.add_argument("id", type=int)
    to = made["hand-over"].add_mutually_exclusive_group(required=True)
    to.add_argument("--to", default="", metavar="USER")
    to.add_argument("--group", default="", metavar="GROUP")
    for verb in ("hand-over", "withdraw"):
        made[verb].add_argument("--because", default="", help="kept, and shown to others")
    return list(made.values())


def said(actor: Actor, verb: str, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Do it; what it came to, as data and as a sentence."""
    number = options["id"]
    match verb:
        case "claim":
            claim = claiming.claim(actor, number)
            value = {"id": number, "claimed_by": claim.by, "until": claim.until.isoformat()}
            return value, f"You read decision {number} until {claim.until:%H:%M:%S} UTC."
        case "release":
            claiming.release(actor, number)
            return {
                "id": number,
                "claimed_by": None,
            }, f"You do not read decision {number} any more."
        case "hand-over":
            return _handed(actor, number, options)
        case _:
            left = withdrawing.withdraw(actor, number, because=options["because"])
            value = {"id": number, "state": left.state, "withdrawn_by": actor.name}
            return value, f"Your answer to decision {number} counts no more; it is {left.state}."


def _handed(actor: Actor, number: int, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
    handed = handing_over.hand_over(
        actor,
        number,
        person=options["to"],
        group=options["group"],
        because=options["because"],
    )
    to = handed.to_name or handed.to_group
    heard = handing_over.heard(handed)
    value = {
        "id": number,
        "handed_to": to,
        "by": handed.by,
        "told": {"by_mail": [*heard.mailed], "channels": [*heard.channels]},
        "not_told": [*heard.without_address],
    }
    return value, f"Decision {number} is handed to {to}. {heard.sentence}"
