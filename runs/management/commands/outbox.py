"""The command `outbox`: what has to leave, why it has not, and have it tried now."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from runs.ledger import hastening
from runs.management import given
from runs.management.verbs import VerbCommand
from runs.queries import pages_outbox
from runs.queries.pages_outbox import Item
from runs.rules.policy import Actor


class Command(VerbCommand):
    help = "Shows what the couriers have to deliver, and has something tried now."
    verbs = (
        ("list", "what is pending or held, the newest first; --state for the others"),
        ("show", "one message, and what happens to it next"),
        ("retry", "have pending messages tried now instead of later"),
    )

    def arguments_of_list(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--state", choices=["open", "any", *pages_outbox.STATES], default="open"
        )
        parser.add_argument("--lane", default="", help="only this lane")
        parser.add_argument("--limit", type=int, default=50)

    def arguments_of_show(self, parser: ArgumentParser) -> None:
        parser.add_argument("message", help="its id, as outbox list prints it")

    def arguments_of_retry(self, parser: ArgumentParser) -> None:
        parser.add_argument("message", nargs="+", help="ids, as outbox list prints them")

    def do_list(self, actor: Actor, *, as_json: bool, limit: int, **said: Any) -> None:
        state = "" if said["state"] == "any" else said["state"]
        rows = pages_outbox.messages_of(actor, state=state, lane=said["lane"])
        found = list(rows.order_by("-created_at", "-id")[: max(1, min(limit, 1000))])
        items = pages_outbox.items_of(found)
        lines = [_line(item) for item in items] or ["The outbox holds nothing of that kind."]
        self.say({"messages": [item.told() for item in items]}, lines, as_json=as_json)

    def do_show(self, actor: Actor, *, message: str, as_json: bool, **_: Any) -> None:
        told = _named(actor, message).told()
        lines = [f"{name}: {value}" for name, value in told.items() if value not in (None, "")]
        self.say(told, lines, as_json=as_json)

    def do_retry(self, actor: Actor, *, message: list[str], as_json: bool, **_: Any) -> None:
        meant = [_named(actor, text).message.pk for text in message]
        moved = [each for each in meant if hastening.retry_now(actor, each)]
        left = [str(each) for each in meant if each not in moved]
        lines = [f"{each} is due now" for each in moved]
        answer = {"due_now": [str(each) for each in moved], "left": left}
        self.say(
            answer,
            [*lines, *(f"{each} is due already, or settled" for each in left)],
            as_json=as_json,
        )


def _named(actor: Actor, text: str) -> Item:
    try:
        found = pages_outbox.one(actor, UUID(text))
    except ValueError:
        raise given.Misused(f"{text!r} is no id of a message.") from None
    if found is None:
        raise given.NotThere(f"There is no message {text} in the outbox.")
    return found


def _line(item: Item) -> str:
    message = item.message
    stuck = " STUCK" if item.is_stuck else ""
    return f"{message.pk}  {message.state:9}{stuck}  {message.lane}  {item.what}  tried {message.attempts}  {item.next}"
