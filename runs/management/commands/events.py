"""The command `events`: bring one in from outside, see what came, and give senders their keys."""

from argparse import ArgumentParser
from typing import Any

from runs.ledger import event_keys, waking
from runs.management import given
from runs.management.verbs import VerbCommand
from runs.queries import memberships, pages_events
from runs.rules.canonical import NotCanonical
from runs.rules.event_keys import BadEventName
from runs.rules.policy import Actor, Verb, may, require

BECAME = {
    "used": "A run was waiting for it and goes on.",
    "kept": "No run waits for it yet; it is kept until one does.",
    "late": "Whoever waited for it has gone without it; it is kept, and shown as late.",
    "duplicate": "This message was delivered before; nothing has changed.",
    "conflict": "This message id was delivered before with other content; nothing has changed.",
}


class Command(VerbCommand):
    help = "Delivers an event from outside to the run that waits for it, now or later."
    verbs = (
        ("deliver", "deliver one event; the same message id twice is one event"),
        ("list", "what has come, the newest first"),
        ("show", "one event, and what became of it"),
        ("keys", "keys under which senders outside deliver by POST /events/<name>"),
    )

    def arguments_of_deliver(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="as in run.wait_for(NAME, ...)")
        parser.add_argument("--correlation-id", required=True, help="which one: an order, a file")
        parser.add_argument("--message-id", required=True, help="the sender's; never used twice")
        parser.add_argument("--payload", default="{}", metavar="JSON", help="an object, or @FILE")
        parser.add_argument("--tenant", default=memberships.DEFAULT)

    def arguments_of_list(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", default="", help="only events of this name")
        parser.add_argument("--correlation-id", default="", help="only those for this")
        parser.add_argument("--which", choices=pages_events.WHICH, default="", help="only these")
        parser.add_argument("--limit", type=int, default=50)

    def arguments_of_show(self, parser: ArgumentParser) -> None:
        parser.add_argument("event", type=int, help="its number, as events list prints it")

    def arguments_of_keys(self, parser: ArgumentParser) -> None:
        parser.add_argument("act", choices=["add", "list", "revoke"])
        parser.add_argument("key", nargs="?", default="", help="add: NAME; revoke: HANDLE")
        parser.add_argument("--event", action="append", default=[], help="may deliver only these")
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
        if outcome == "conflict":
            raise given.NotThere(BECAME[outcome])
        self.say({**event, "outcome": outcome}, [BECAME[outcome]], as_json=as_json)

    def do_list(self, actor: Actor, *, as_json: bool, limit: int, **said: Any) -> None:
        wanted = pages_events.Wanted(
            name=said["name"], correlation_id=said["correlation_id"], which=said["which"]
        )
        rows = pages_events.newest(actor, wanted, at_most=max(1, min(limit, 1000)))
        lines = [_line(row) for row in rows] or ["No such event has come."]
        self.say({"events": [row.told() for row in rows]}, lines, as_json=as_json)

    def do_show(self, actor: Actor, *, event: int, as_json: bool, **_: Any) -> None:
        row = pages_events.one(actor, event)
        if row is None:
            raise given.NotThere(f"There is no event {event}; events list names what has come.")
        told = {**row.told(), "payload_digest": row.event.payload_digest}
        if may(actor, Verb.VIEW_PAYLOADS):
            told["payload"] = row.payload()
        lines = [f"{name}: {value}" for name, value in told.items() if value not in (None, "")]
        self.say(told, lines, as_json=as_json)

    def do_keys(self, actor: Actor, *, act: str, key: str, as_json: bool, **said: Any) -> None:
        if act == "list":
            rows = [row.told() for row in pages_events.keys_of(actor)]
            lines = [_key_line(row) for row in rows] or ["No sender has a key."]
            self.say({"keys": rows}, lines, as_json=as_json)
            return
        given.short_enough(key, named="NAME" if act == "add" else "HANDLE", most=100)
        if act == "revoke":
            try:
                name = event_keys.revoke(actor, key)
            except event_keys.NoSuchKey as missing:
                raise given.NotThere(str(missing)) from None
            self.say({"revoked": key}, [f"The key {key} of {name} opens nothing."], as_json=as_json)
            return
        self._add(actor, key, as_json=as_json, **said)

    def _add(self, actor: Actor, name: str, *, as_json: bool, **said: Any) -> None:
        tenant_id = given.the_tenant(actor, said["tenant"])
        try:
            made = event_keys.add(actor, tenant_id=tenant_id, name=name, events=said["event"])
        except BadEventName as bad:
            raise given.Misused(str(bad)) from None
        told = {"handle": made.handle, "name": name, "events": list(made.events)}
        lines = [f"The key of {name}, shown this once:", made.token]
        self.say({**told, "key": made.token}, lines, as_json=as_json)


def _line(row: pages_events.Row) -> str:
    event = row.event
    at = f"{event.received_at:%Y-%m-%d %H:%M:%S}"
    return (
        f"{event.pk:>8}  {at}  {row.which:6}  {event.name}  {event.correlation_id}  {row.sentence}"
    )


def _key_line(row: dict[str, Any]) -> str:
    events = ", ".join(row["events"]) or "every event"
    ends = (
        f"revoked by {row['revoked_by']}"
        if row["revoked_at"]
        else f"used {row['last_used_at'] or 'never'}"
    )
    return f"{row['handle']}  {row['name']}  {events}  {ends}"
