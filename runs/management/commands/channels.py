"""The command `channels`: in which ways people are told, and whether it arrives."""

import sys
import time
from argparse import ArgumentParser
from typing import Any

from runs.channels import leading
from runs.conf import channel_schemes
from runs.engine import courier
from runs.ledger import channels
from runs.management.given import Misused, NotThere
from runs.management.verbs import VerbCommand
from runs.queries import memberships, pages_channels
from runs.queries.pages_channels import Row
from runs.rules.channels import ChannelKind, ChannelRefused, ChannelWish, Severity, lane_of
from runs.rules.policy import Actor
from runs.rules.states import DeliveryState

TEST_WITHIN = 45.0
LOOK_EVERY = 0.2


class Command(VerbCommand):
    help = "Lists, makes, tests, pauses and removes the channels by which people are told."
    verbs = (
        ("list", "every channel, whether it arrives, and what waits for it"),
        ("show", "one channel with its newest deliveries"),
        ("add", "make one; a webhook's secret is printed this once"),
        ("test", "send a test and print the exact answer"),
        ("pause", "nobody is told by it; what waits goes on waiting"),
        ("resume", "it is told again"),
        ("rotate", "a new secret; the old one signs beside it for a day"),
        ("remove", "it is gone, with its secrets and what waited for it"),
    )

    def arguments_of_show(self, parser: ArgumentParser) -> None:
        parser.add_argument("channel", help="its name or number")
        parser.add_argument("--tenant", default="", help="whose it is, where several have the name")

    def arguments_of_add(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--kind", required=True, choices=[each.value for each in ChannelKind])
        parser.add_argument(
            "--to",
            required=True,
            metavar="ADDRESS",
            help="where it leads; - reads it from standard input, where no other user sees it",
        )
        parser.add_argument(
            "--tells-of",
            required=True,
            nargs="+",
            metavar="SEVERITY",
            choices=[each.value for each in Severity],
        )
        parser.add_argument("--workflow", action="append", default=[], help="only of this one")
        parser.add_argument("--tenant", default=memberships.DEFAULT)

    def arguments_of_pause(self, parser: ArgumentParser) -> None:
        self.arguments_of_show(parser)
        parser.add_argument("--because", required=True, metavar="TEXT")

    arguments_of_remove = arguments_of_pause
    arguments_of_test = arguments_of_resume = arguments_of_rotate = arguments_of_show

    def act(self, actor: Actor, verb: str, **options: Any) -> None:
        try:
            super().act(actor, verb, **options)
        except ChannelRefused as refused:
            lines = [f"  {name}: {error}" for name, error in refused.errors.items()]
            raise NotThere("\n".join(["Refused:", *lines])) from None
        except (channels.NoSuchChannel, channels.ChannelChanged) as wrong:
            raise NotThere(str(wrong)) from None

    def do_list(self, actor: Actor, *, as_json: bool, **_: Any) -> None:
        rows = pages_channels.rows_of(actor)
        lines = [_line(row) for row in rows] or ["No channel: news goes by mail to who may act."]
        self.say({"channels": [row.told() for row in rows]}, lines, as_json=as_json)

    def do_show(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        row = _named(actor, said)
        sent = pages_channels.deliveries(row)
        value = {**row.told(), "deliveries": [_delivery(each) for each in sent]}
        lines = [
            f"  {each.created_at:%Y-%m-%d %H:%M:%S}  {each.state:9}  {each.kind}  "
            f"{each.answer if each.state == 'delivered' else each.error}"
            for each in sent
        ]
        self.say(value, [_line(row), *lines], as_json=as_json)

    def do_add(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        to = sys.stdin.readline() if said["to"] == "-" else said["to"]
        wish = ChannelWish(
            name=said["name"],
            kind=said["kind"],
            severities=tuple(said["tells_of"]),
            workflows=tuple(said["workflow"]),
            led=leading.read(said["kind"], to, schemes=channel_schemes()),
        )
        made = channels.create(actor, wish, tenant=said["tenant"])
        self._told(actor, made.channel.pk, "is made.", secret=made.secret, as_json=as_json)

    def do_test(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        row = _named(actor, said)
        message = channels.put_test(actor, row.channel.pk)
        until = time.monotonic() + TEST_WITHIN
        while (test := pages_channels.tested(actor, message)) is not None:
            if test.state != DeliveryState.PENDING or time.monotonic() > until:
                break
            # A courier of the watch may have the lane; where none does, this process delivers.
            if not courier.deliver_next(lane_of(row.channel.pk)):
                time.sleep(LOOK_EVERY)
        state = "unknown" if test is None else test.state
        error, answer = ("", "") if test is None else (test.error, test.answer)
        value = {"id": str(message), "state": state, "error": error, "answer": answer}
        self.say(value, [part for part in (state, error, answer) if part], as_json=as_json)
        if state != DeliveryState.DELIVERED:
            raise NotThere(f"The test of {row.channel.name} did not arrive.")

    def do_pause(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        found = channels.pause(actor, _named(actor, said).channel.pk, because=said["because"])
        self._told(actor, found.pk, "is paused.", as_json=as_json)

    def do_resume(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        found = channels.resume(actor, _named(actor, said).channel.pk)
        self._told(actor, found.pk, "is told again.", as_json=as_json)

    def do_rotate(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        made = channels.rotate(actor, _named(actor, said).channel.pk)
        done = "has a new secret. The old one signs beside it for a day."
        self._told(actor, made.channel.pk, done, secret=made.secret, as_json=as_json)

    def do_remove(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        found = channels.remove(actor, _named(actor, said).channel.pk, because=said["because"])
        self.say({"removed": found.name}, [f"{found.name} is removed."], as_json=as_json)

    def _told(
        self,
        actor: Actor,
        channel_id: int,
        done: str,
        *,
        as_json: bool,
        secret: str = "",
    ) -> None:
        row = pages_channels.one(actor, channel_id)
        if row is None:
            raise Misused("The channel is gone.")
        value = row.told() | ({"secret": secret} if secret else {})
        lines = [f"{row.channel.name} {done}", _line(row)]
        shown = [f"Its secret, shown this once: {secret}"] if secret else []
        self.say(value, [*lines, *shown], as_json=as_json)


def _named(actor: Actor, said: dict[str, Any]) -> Row:
    name = said["channel"]
    found = pages_channels.named(actor, name, tenant=said["tenant"])
    if not found:
        raise NotThere(f"There is no channel {name!r}; `channels list` names those there are.")
    if len(found) > 1:
        tenants = ", ".join(row.channel.tenant.slug for row in found)
        raise Misused(f"Several tenants have {name!r} ({tenants}): say --tenant.")
    return found[0]


def _line(row: Row) -> str:
    of = f" of {', '.join(row.workflows)}" if row.workflows else ""
    return (
        f"{row.channel.pk:4}  {row.channel.name}  {row.state}  {row.channel.kind}  "
        f"{row.channel.target}  tells of {', '.join(row.severities)}{of}  {row.waiting} waiting"
    )


def _delivery(message: Any) -> dict[str, Any]:
    return {
        "id": str(message.pk),
        "kind": message.kind,
        "state": message.state,
        "attempts": message.attempts,
        "created_at": message.created_at.isoformat(),
        "error": message.error,
        "answer": message.answer,
    }
