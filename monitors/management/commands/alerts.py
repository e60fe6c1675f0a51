"""The command `alerts`: incidents, who was told of them, and what people do about them."""

from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from monitors.ledger import incidents
from monitors.management import wording
from monitors.queries.incidents import incidents_page, members_of
from monitors.rules.incidents import IncidentRefused, key_of
from runs.management import given
from runs.management.verbs import VerbCommand
from runs.queries.clock import db_now
from runs.queries.deliveries import deliveries_of
from runs.rules.policy import Actor

if TYPE_CHECKING:
    from monitors.models import Incident


class Command(VerbCommand):
    help = "Lists and shows incidents, takes them on, puts them off, resolves them."
    verbs = (
        ("list", "what is open, the worst first; --all for what is over as well"),
        ("show", "one incident: what is in it, and who was told by which channel"),
        ("ack", "take it on: nobody is reminded, unless it gets worse or something new joins it"),
        ("snooze", "remind nobody for a time"),
        ("reopen", "take an ack or a snooze back"),
        ("resolve", "call it over"),
    )

    def arguments_of_list(self, parser: ArgumentParser) -> None:
        parser.add_argument("--all", action="store_true", dest="everything")

    def arguments_of_show(self, parser: ArgumentParser) -> None:
        wording.name_incident(parser)

    arguments_of_reopen = arguments_of_show

    def arguments_of_ack(self, parser: ArgumentParser) -> None:
        wording.name_incident(parser)
        parser.add_argument("--note", default="", metavar="TEXT")

    arguments_of_resolve = arguments_of_ack

    def arguments_of_snooze(self, parser: ArgumentParser) -> None:
        self.arguments_of_ack(parser)
        parser.add_argument(
            "--for", type=given.length_of_time, required=True, metavar="TIME", dest="lasts"
        )

    def act(self, actor: Actor, verb: str, **options: Any) -> None:
        try:
            super().act(actor, verb, **options)
        except (incidents.NoSuchIncident, incidents.IncidentChanged, IncidentRefused) as refused:
            raise wording.Refused(str(refused)) from None

    def do_list(self, actor: Actor, *, everything: bool, as_json: bool, **_: Any) -> None:
        page = incidents_page(actor, None)
        found = [*page.open, *(page.resolved.rows if everything else ())]
        last = f" The last one ended {page.last_at:%Y-%m-%d %H:%M} UTC." if page.last_at else ""
        value = {"incidents": [wording.shown_incident(each) for each in found]}
        lines = [wording.line_of_incident(each) for each in found]
        self.say(value, lines or [f"No open incidents.{last}"], as_json=as_json)

    def do_show(self, actor: Actor, *, incident: int, as_json: bool, **_: Any) -> None:
        found = wording.the_incident(actor, incident)
        members, told = members_of(found), deliveries_of(actor, key_of(found.pk))
        value = wording.shown_incident(found) | {
            "alerts": [
                {"subject": each.subject, "sentence": each.sentence, "open": each.closed_at is None}
                for each in members.alerts
            ],
            "deliveries": [wording.shown_delivery(each) for each in told],
        }
        self.say(value, wording.lines_of_incident(found, members, told), as_json=as_json)

    def do_ack(self, actor: Actor, *, incident: int, note: str, as_json: bool, **_: Any) -> None:
        self._tell(incidents.acknowledge(actor, incident, note=note), as_json=as_json)

    def do_snooze(self, actor: Actor, *, incident: int, as_json: bool, **said: Any) -> None:
        until = db_now() + said["lasts"]
        moved = incidents.snooze(actor, incident, until=until, note=said["note"])
        self._tell(moved, as_json=as_json)

    def do_reopen(self, actor: Actor, *, incident: int, as_json: bool, **_: Any) -> None:
        self._tell(incidents.reopen(actor, incident), as_json=as_json)

    def do_resolve(
        self, actor: Actor, *, incident: int, note: str, as_json: bool, **_: Any
    ) -> None:
        self._tell(incidents.resolve(actor, incident, note=note), as_json=as_json)

    def _tell(self, incident: "Incident", *, as_json: bool) -> None:
        line = wording.line_of_incident(incident).strip()
        self.say(wording.shown_incident(incident), [line], as_json=as_json)
