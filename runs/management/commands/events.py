"""The command `events`: bring one in from outside."""

from argparse import ArgumentParser
from typing import Any

from runs.ledger import waking
from runs.management import given
from runs.management.verbs import VerbCommand
from runs.queries import memberships
from runs.rules.canonical import NotCanonical
from runs.rules.policy import Actor, Verb, require

BECAME = {
    "used": "A run was waiting for it and goes on.",
    "kept": "No run waits for it yet; it is kept until one does.",
    "duplicate": "This message was delivered before; nothing has changed.",
}


class Command(VerbCommand):
    help = "Delivers an event from outside to the run that waits for it, now or later."
    verbs = (("deliver", "deliver one event; the same message id twice is one event"),)

    def arguments_of_deliver(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="as in run.wait_for(NAME, ...)")
        parser.add_argument("--correlation-id", required=True, help="which one: an order, a file")
        parser.add_argument("--message-id", required=True, help="the sender's; never used twice")
        parser.add_argument("--payload", default="{}", metavar="JSON", help="an object, or @FILE")
        parser.add_argument("--tenant", default=memberships.DEFAULT)

    def do_deliver(self, actor: Actor, *, name: str, as_json: bool, **said: Any) -> None:
        require(actor, Verb.OPERATE)
        event = {
            "name": given.short_enough(name, named="NAME", most=200),
            "correlation_id": given.short_enough(
                said["correlation_id"], named="--correlation-id", most=300
            ),
            "message_id": given.short_enough(said["message_id"], named="--message-id", most=300),
        }
        try:
            outcome = waking.deliver_event(
                tenant_id=given.the_tenant(actor, said["tenant"]),
                payload=given.json_object(said["payload"], named="--payload"),
                source=actor.name[:200],
                **event,
            )
        except NotCanonical as unusable:
            raise given.Misused(f"--payload: {unusable}") from None
        self.say({**event, "outcome": outcome}, [BECAME[outcome]], as_json=as_json)
