"""The command `delegations`: who answers in whose place, and until when."""

from argparse import ArgumentParser, ArgumentTypeError
from datetime import UTC, datetime
from typing import Any

from approvals.ledger import delegating
from approvals.queries import delegations
from approvals.queries.delegations import NoSuchDelegation
from runs.management.given import Misused, NotThere
from runs.management.verbs import VerbCommand
from runs.queries.clock import db_now
from runs.queries.memberships import DEFAULT
from runs.rules.policy import Actor


class Command(VerbCommand):
    help = "Lists delegations, makes one with its end, or ends one before its day."
    verbs = (
        ("list", "who answers in whose place now; --all for those that are over too"),
        ("add", "let somebody answer decisions in a person's place until a day"),
        ("end", "take it back before its day"),
    )

    def arguments_of_list(self, parser: ArgumentParser) -> None:
        parser.add_argument("--all", action="store_true", dest="everything")

    def arguments_of_add(self, parser: ArgumentParser) -> None:
        parser.add_argument("receiver", metavar="USER", help="who is to answer")
        parser.add_argument(
            "--for", dest="giver", default="", metavar="USER", help="in whose place"
        )
        parser.add_argument("--until", required=True, type=_moment, metavar="DATE")
        parser.add_argument("--group", default="", help="this one only; else each of the giver's")
        parser.add_argument("--because", default="", metavar="TEXT")
        parser.add_argument("--tenant", default=DEFAULT)

    def arguments_of_end(self, parser: ArgumentParser) -> None:
        parser.add_argument("id", type=int)

    def act(self, actor: Actor, verb: str, **options: Any) -> None:
        try:
            super().act(actor, verb, **options)
        except delegating.DelegationRefused as refused:
            raise Misused(str(refused)) from None
        except NoSuchDelegation as wrong:
            raise NotThere(str(wrong)) from None

    def do_list(self, actor: Actor, *, everything: bool, as_json: bool, **_: Any) -> None:
        rows = delegations.shown_to(actor, now=db_now(), everything=everything)
        self.say(
            {"delegations": [_told(row) for row in rows]},
            [row.sentence for row in rows] or ["Nobody answers in anybody's place."],
            as_json=as_json,
        )

    def do_add(
        self, actor: Actor, *, receiver: str, until: datetime, as_json: bool, **said: Any
    ) -> None:
        given = {name: said[name] for name in ("giver", "group", "because", "tenant")}
        made = delegating.delegate(actor, to=receiver, until=until, **given)
        self._say_one(actor, made.pk, as_json=as_json)

    def do_end(self, actor: Actor, *, id: int, as_json: bool, **_: Any) -> None:  # noqa: A002
        ended = delegating.end(actor, id)
        self._say_one(actor, ended.pk, as_json=as_json)

    def _say_one(self, actor: Actor, delegation_id: int, *, as_json: bool) -> None:
        row = delegations.shown(delegations.visible_delegation(actor, delegation_id), now=db_now())
        self.say(_told(row), [row.sentence], as_json=as_json)


def _moment(text: str) -> datetime:
    """A date is until its end, in UTC."""
    try:
        said = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError("write a date such as 2027-01-31") from None
    if len(text) == len("2027-01-31"):
        said = said.replace(hour=23, minute=59, second=59)
    return said if said.tzinfo else said.replace(tzinfo=UTC)


def _told(row: delegations.Shown) -> dict[str, Any]:
    one = row.delegation
    return {
        "id": one.pk,
        "giver": row.giver,
        "receiver": row.receiver,
        "group": one.group or None,
        "since": one.since.isoformat(),
        "until": one.until.isoformat(),
        "running": row.running,
        "because": one.because,
        "made_by": one.made_by,
        "ended_by": one.ended_by or None,
    }
