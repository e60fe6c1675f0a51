"""The command `decisions`: list them, show one, answer one."""

import json
import sys
from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from approvals.ledger import deciding
from approvals.ledger.deciding import Decided, Door, NothingLeft
from approvals.ledger.grounds import GroundMoved
from approvals.ledger.holding import DecisionChanged, DecisionClosed
from approvals.ledger.striking import NoSuchCall, NothingToStrike
from approvals.management import hands, rule_verbs, wording
from approvals.queries import told
from approvals.queries.visible import NoSuchDecision, visible_decision
from approvals.rules.asked import APPROVE, REJECT, NoSuchOption, asked_of
from approvals.rules.demands import SHORTEST_DIGEST, CommentMissing, ConfirmationMissing
from approvals.rules.door import NotYours
from approvals.rules.schema import FieldsRefused
from runs.definition.registry import UnknownWorkflow
from runs.ledger.correcting import NothingToCorrect
from runs.ledger.limits import DeadlineTooShort, NoDeadline
from runs.ledger.plans import PlanChanged
from runs.management.acting import UnknownActor, actor_named
from runs.rules.inputs import InvalidInput
from runs.rules.plan import BrokenWorkflow
from runs.rules.policy import Actor
from runs.rules.postures import NotReplayable, NotRestartable
from runs.rules.states import DecisionState
from runs.rules.verbs import NotNow

if TYPE_CHECKING:
    from approvals.models import Decision

WRONG = (
    NoSuchDecision,
    NotYours,
    DecisionClosed,
    DecisionChanged,
    NothingLeft,
    GroundMoved,
    NoDeadline,
    DeadlineTooShort,
    NothingToCorrect,
    InvalidInput,
    NotReplayable,
    NotRestartable,
    NotNow,
    UnknownWorkflow,
    BrokenWorkflow,
    PlanChanged,
    *hands.WRONG,
    *rule_verbs.WRONG,
)
MISUSED = (
    NoSuchOption,
    FieldsRefused,
    CommentMissing,
    ConfirmationMissing,
    NoSuchCall,
    NothingToStrike,
    *rule_verbs.MISUSED,
)


class Command(BaseCommand):
    help = "Lists decisions, shows one with all that is asked, or answers one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(
            dest="verb",
            required=True,
            metavar="list|show|approve|reject|answer|claim|release|hand-over|withdraw|rules",
        )
        listing = verbs.add_parser("list", help="what is open; --state for others")
        listing.add_argument("--state", default="open", choices=told.STATES)
        listing.add_argument("--limit", type=int, default=100)
        showing = verbs.add_parser("show", help="one decision, its options and what they do")
        showing.add_argument("--calls", action="store_true", help="with every call of the list")
        answering = {
            APPROVE: verbs.add_parser("approve", help="approve a list or a call"),
            REJECT: verbs.add_parser("reject", help="reject a list or a call"),
            "answer": verbs.add_parser("answer", help="answer with any of the options"),
        }
        for verb in (showing, *answering.values()):
            verb.add_argument("id", type=int)
        for verb in (showing, answering[APPROVE], answering["answer"]):
            verb.add_argument("--strike", type=int, nargs="+", metavar="ORDINAL")
        for verb in answering.values():
            verb.add_argument("--comment", default="", help="kept with the record")
            verb.add_argument("--digest", default="", help="the beginning of what was shown")
            verb.add_argument(
                "--confirm",
                default="",
                help="the last 6 characters of the run's reference or id; --digest does as well",
            )
            verb.add_argument(
                "--break-glass",
                action="store_true",
                help="as an administrator, decide alone what takes others; everybody is told",
            )
        answering["answer"].add_argument("--option", required=True, metavar="KEY")
        answering["answer"].add_argument("--field", action="append", default=[], metavar="K=V")
        others = [*hands.add(verbs), *rule_verbs.add(verbs)]
        for verb in (listing, showing, *answering.values(), *others):
            verb.add_argument("--as", dest="who", metavar="USER", help="act as this user")
            verb.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, verb: str, who: str | None, **options: Any) -> None:
        try:
            self._do(actor_named(who), verb, options)
        except WRONG as wrong:
            raise CommandError(str(wrong), returncode=1) from None
        except (*MISUSED, UnknownActor) as misused:
            raise CommandError(str(misused), returncode=2) from None

    def _do(self, actor: Actor, verb: str, options: dict[str, Any]) -> None:
        match verb:
            case "list":
                self._list(actor, **options)
            case "show":
                self._show(actor, **options)
            case "rules":
                value, lines = rule_verbs.said(actor, options["rule_verb"], options)
                self._print(value, lines, as_json=options["json"])
            case "claim" | "release" | "hand-over" | "withdraw":
                value, line = hands.said(actor, verb, options)
                self._print(value, [line], as_json=options["json"])
            case _:
                self._answer(actor, verb=verb, **options)

    def _list(self, actor: Actor, *, state: str, limit: int, json: bool, **rest: Any) -> None:
        found = told.listed(actor, state=state, limit=limit)
        self._print({"decisions": found}, wording.lines_of_list(found), as_json=json)

    def _show(self, actor: Actor, *, id: int, json: bool, **options: Any) -> None:  # noqa: A002
        decision = visible_decision(actor, id)
        shown = told.shown(actor, decision, struck=options["strike"], with_calls=options["calls"])
        self._print(shown, wording.lines_of_one(shown), as_json=json)

    def _answer(self, actor: Actor, *, verb: str, id: int, json: bool, **options: Any) -> None:  # noqa: A002
        option = options.get("option") or verb
        fields = dict(_pair(text) for text in options.get("field", []))
        decided = deciding.decide(
            actor,
            id,
            option=option,
            fields=fields,
            comment=options["comment"],
            shown_digest=_shown_digest(actor, id, option, options),
            struck=options.get("strike"),
            confirm=options["confirm"] or options["digest"],
            break_glass=options["break_glass"],
            through=Door(name="command"),
        )
        self._print(_said(decided), [wording.sentence_of(decided)], as_json=json)

    def _print(self, value: dict[str, Any], lines: list[str], *, as_json: bool) -> None:
        text = json.dumps(value, ensure_ascii=not _unicode(), indent=2) if as_json else ""
        self.stdout.write(text or "\n".join(lines))


def _unicode() -> bool:
    return (sys.stdout.encoding or "").lower().startswith("utf")


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise FieldsRefused({text: "is not of the form NAME=VALUE"})
    return name, value


def _shown_digest(actor: Actor, decision_id: int, option: str, said: dict[str, Any]) -> str:
    """The whole digest of which the beginning was typed.

    Where none was, what stands now: but not of what cannot be undone, which may be another by now.
    """
    decision = visible_decision(actor, decision_id)
    now = told.digest_left(decision, said.get("strike"))
    typed = (said["digest"] or _digest_in(said["confirm"])).lower()
    if len(typed) < SHORTEST_DIGEST and (typed or _is_grave(decision, option)):
        raise ConfirmationMissing(
            f"Confirm with --digest and at least {SHORTEST_DIGEST} characters of the digest that "
            f"`decisions show {decision_id}` prints."
        )
    return now if now.startswith(typed) else typed


def _digest_in(confirm: str) -> str:
    """Whoever confirms with a digest has said what they were shown."""
    return confirm if len(confirm) >= SHORTEST_DIGEST else ""


def _is_grave(decision: "Decision", option: str) -> bool:
    """Of one that is open; who comes too late is told that."""
    asked = asked_of(decision.ask)
    return decision.state == DecisionState.OPEN.value and asked.grave(asked.option(option))


def _said(decided: Decided) -> dict[str, Any]:
    return {
        "id": decided.decision_id,
        "state": decided.state.value,
        "option": decided.option,
        "then": decided.then,
        "digest": decided.digest,
        "takes_effect_at": (
            decided.takes_effect_at.isoformat() if decided.takes_effect_at else None
        ),
        "votes": {
            "needed": decided.tally.needed,
            "given": decided.tally.given,
            "still": decided.tally.still,
        },
    }
