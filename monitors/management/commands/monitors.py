"""The command `monitors`: what is watched, how it stands, and what is done about that."""

from argparse import ArgumentParser
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from monitors.ledger import monitors, ping_keys, trials, windows
from monitors.management import wording
from monitors.queries.pages_monitors import monitors_page, rows_of
from monitors.queries.pages_previews import wish_of
from monitors.rules.monitors import MonitorRefused
from monitors.rules.ping_keys import OVERLAP
from monitors.rules.states import MonitorKind, PingKind
from monitors.rules.tried import sentence_of
from runs.management import given
from runs.management.verbs import VerbCommand
from runs.queries import memberships
from runs.queries.clock import db_now
from runs.rules.policy import Actor

if TYPE_CHECKING:
    from monitors.models import Monitor

REFUSED = (
    monitors.NoSuchMonitor,
    monitors.MonitorChanged,
    monitors.MonitorIsOurs,
    ping_keys.BadOverlap,
    ping_keys.NoSuchPingKey,
)


class Command(VerbCommand):
    help = "Lists, shows, makes, changes, pauses and removes monitors, and gives out ping keys."
    verbs = (
        ("list", "every monitor: down first, then late, then by name"),
        ("show", "one monitor with its verdict, both facts, its last slots and its address"),
        ("add", "watch something outside: it pings the address that this prints"),
        ("edit", "change what is named, keep the rest"),
        ("pause", "expect nothing of it, until a time or its next ping"),
        ("resume", "watch it again, with a whole period from now on"),
        ("mute", "call nobody about it for a time; it is judged and shown as before"),
        ("unmute", "call people about it again"),
        ("test-ping", "send it a ping as one from outside, to see what becomes of it"),
        ("remove", "expect nothing of it any more"),
        ("ping-key", "make a key under which a tenant's monitors are pinged by slug, or end one"),
    )

    def arguments_of_list(self, parser: ArgumentParser) -> None:
        parser.add_argument("--kind", choices=[kind.value for kind in MonitorKind], default="")
        parser.add_argument("--tag", default="")

    def arguments_of_show(self, parser: ArgumentParser) -> None:
        wording.name_monitor(parser)

    arguments_of_resume = arguments_of_remove = arguments_of_unmute = arguments_of_show

    def arguments_of_add(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="what is watched, such as “Nightly backup”")
        parser.add_argument("--tenant", default=memberships.DEFAULT)
        wording.limits(parser)

    def arguments_of_edit(self, parser: ArgumentParser) -> None:
        wording.name_monitor(parser)
        parser.add_argument("--name")
        wording.limits(parser)

    def arguments_of_pause(self, parser: ArgumentParser) -> None:
        wording.name_monitor(parser)
        parser.add_argument("--for", type=given.length_of_time, metavar="TIME", dest="lasts")
        parser.add_argument("--because", default="", metavar="TEXT")

    def arguments_of_mute(self, parser: ArgumentParser) -> None:
        wording.name_monitor(parser)
        parser.add_argument(
            "--for", type=given.length_of_time, required=True, metavar="TIME", dest="lasts"
        )
        parser.add_argument("--because", default="", metavar="TEXT")

    def arguments_of_test_ping(self, parser: ArgumentParser) -> None:
        wording.name_monitor(parser)
        parser.add_argument("--says", required=True, choices=[each.value for each in trials.KINDS])

    def arguments_of_ping_key(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", default=memberships.DEFAULT)
        parser.add_argument(
            "--overlap",
            type=given.length_of_time,
            default=OVERLAP,
            metavar="TIME",
            help="how long the keys before it still hold",
        )
        parser.add_argument("--end", type=int, metavar="NUMBER", help="end this key, make none")

    def act(self, actor: Actor, verb: str, **options: Any) -> None:
        try:
            super().act(actor, verb.replace("-", "_"), **options)
        except (MonitorRefused, windows.WindowRefused) as refused:
            lines = [f"  {name}: {error}" for name, error in refused.errors.items()]
            raise wording.Refused("\n".join(["Refused:", *lines])) from None
        except REFUSED as refused:
            raise wording.Refused(str(refused)) from None

    def _add_arguments_of(self, name: str, parser: ArgumentParser) -> None:
        super()._add_arguments_of(name.replace("-", "_"), parser)

    def do_list(self, actor: Actor, *, kind: str, tag: str, as_json: bool, **_: Any) -> None:
        page = monitors_page(actor, kind=kind, tag=tag)
        value = {"monitors": [wording.shown(row) for row in page.rows], "amount": page.amount}
        lines = [wording.line_of(row) for row in page.rows]
        if page.cut:
            lines.append(f"{page.cut} more are not shown; --kind and --tag narrow it down.")
        empty = (
            'Nothing is watched. `manage.py monitors add "Nightly backup" --every 1d --grace 1h`'
        )
        self.say(value, lines or [empty], as_json=as_json)

    def do_show(self, actor: Actor, *, monitor: str, as_json: bool, **_: Any) -> None:
        self._tell(actor, wording.the_monitor(actor, monitor), "", as_json=as_json)

    def do_add(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        if said["grace"] is None:
            raise given.Misused("Say with --grace how late it may be, such as --grace 1h.")
        made = monitors.create(actor, wording.wished(said), tenant=said["tenant"])
        self._tell(actor, made, "made", as_json=as_json)

    def do_edit(self, actor: Actor, *, monitor: str, as_json: bool, **said: Any) -> None:
        found = wording.the_monitor(actor, monitor)
        wish = wording.wished(said, was=wish_of(found))
        changed = monitors.change(actor, found.pk, wish, seen=found.revision)
        self._tell(actor, changed, "changed", as_json=as_json)

    def do_pause(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        until = db_now() + said["lasts"] if said["lasts"] else None
        more = {"because": said["because"], "until": until}
        self._moved(actor, said, monitors.pause, "paused", as_json, **more)

    def do_resume(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        self._moved(actor, said, monitors.resume, "watched again", as_json)

    def do_mute(self, actor: Actor, *, monitor: str, as_json: bool, **said: Any) -> None:
        found, until = wording.the_monitor(actor, monitor), db_now() + said["lasts"]
        windows.mute(actor, found.pk, until=until, because=said["because"])
        self._tell(actor, found, "muted", as_json=as_json)

    def do_unmute(self, actor: Actor, *, monitor: str, as_json: bool, **_: Any) -> None:
        found = wording.the_monitor(actor, monitor)
        if not windows.unmute(actor, found.pk):
            raise wording.Refused(f"{found} has no mute or window of its own that is open now.")
        self._tell(actor, found, "not muted any more", as_json=as_json)

    def do_test_ping(self, actor: Actor, *, monitor: str, as_json: bool, **said: Any) -> None:
        found = wording.the_monitor(actor, monitor)
        tried = trials.try_ping(actor, found.pk, PingKind(said["says"]))
        value = {"monitor": found.pk, "number": tried.number, "kind": tried.kind.value}
        sentence = sentence_of(tried.kind, number=tried.number, suspicious=tried.suspicious)
        self.say(value | {"suspicious": tried.suspicious}, [sentence], as_json=as_json)

    def do_remove(self, actor: Actor, *, monitor: str, as_json: bool, **_: Any) -> None:
        found = wording.the_monitor(actor, monitor)
        monitors.remove(actor, found.pk, seen=found.revision)
        value = {"id": found.pk, "name": str(found), "removed": True}
        self.say(value, [f"{found} is removed; its address answers “not found”."], as_json=as_json)

    def do_ping_key(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        if said["end"] is not None:
            ended = ping_keys.end(actor, said["end"])
            value: dict[str, Any] = {"id": ended.pk, "ended": True}
            self.say(value, [f"Key {ended.hint}… opens nothing any more."], as_json=as_json)
            return
        made = ping_keys.renew(actor, tenant=said["tenant"], overlap=said["overlap"])
        until = made.old_ones_until
        value = {"id": made.id, "key": made.key, "old_ones_until": until and until.isoformat()}
        lines = [made.key, "It is shown this once. Ping /ping/KEY/SLUG."]
        if until:
            lines.append(f"The keys before it hold until {until:%Y-%m-%d %H:%M:%S} UTC.")
        self.say(value, lines, as_json=as_json)

    def _moved(
        self,
        actor: Actor,
        said: dict[str, Any],
        act: Callable[..., "Monitor"],
        done: str,
        as_json: bool,
        **more: Any,
    ) -> None:
        found = wording.the_monitor(actor, said["monitor"])
        self._tell(actor, act(actor, found.pk, **more), done, as_json=as_json)

    def _tell(self, actor: Actor, monitor: "Monitor", done: str, *, as_json: bool) -> None:
        (row,) = rows_of([monitor], now=db_now())
        value, lines = wording.shown(row), list(wording.lines_of_one(row))
        if monitor.kind == MonitorKind.OUTSIDE and actor.administrator:
            address = wording.address_of(monitor)
            value["ping_url"] = address
            lines.append(f"ping: curl -fsS -m 10 --retry 5 {address}")
        self.say(value, [f"{monitor} is {done}.", *lines] if done else lines, as_json=as_json)
