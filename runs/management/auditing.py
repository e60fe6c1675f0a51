"""The verb of `runs` that tells what is recorded: of a run, or of a tenant beside its runs."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from runs.management import given, wording
from runs.management.verbs import VerbCommand
from runs.queries import pages_acts, pages_tabs, shown
from runs.queries.pages_acts import Act, Acts, Wanted
from runs.rules.policy import Actor, Verb, may, require


class AuditingCommand(VerbCommand):
    """`runs audit`."""

    auditing: tuple[tuple[str, str], ...] = (
        ("audit", "all that is recorded of a run, its chain verified; or of a tenant"),
    )

    def arguments_of_audit(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", nargs="?", help="an id, a part of one, or a reference")
        parser.add_argument("--tenant", help="instead: who did what beside its runs, newest first")
        parser.add_argument("--by", default="", help="with --tenant: a part of who")
        parser.add_argument("--what", default="", help="with --tenant: a part of what was done")
        parser.add_argument("--csv", action="store_true", help="with --tenant: for a spreadsheet")

    def do_audit(
        self, actor: Actor, *, run: str | None, tenant: str | None, as_json: bool, **said: Any
    ) -> None:
        if (run is None) == (tenant is None):
            raise given.Misused("Name one run, or say --tenant.")
        if tenant is not None:
            self._tell_acts(actor, tenant, as_json=as_json, **said)
        elif any(said[name] for name in ("by", "what", "csv")):
            raise given.Misused("--by, --what and --csv go with --tenant.")
        else:
            self._tell_run(actor, run or "", as_json=as_json)

    def _tell_run(self, actor: Actor, run: str, *, as_json: bool) -> None:
        found = given.the_run(actor, run)
        chain, line = pages_tabs.chain_of(found), shown.last_audit_line(found)
        events = pages_tabs.chain_lines(found, visible=may(actor, Verb.VIEW_PAYLOADS))
        if as_json:
            answer = {
                "id": str(found.pk),
                "reference": found.reference,
                "state": found.state,
                "verified": chain.verified,
                "first_bad": chain.first_bad,
                "head": chain.head,
                "events": shown.events_shown(list(events)),
                "audit_line": line,
            }
            self.say(answer, [], as_json=True)
        else:
            self.say({}, map(wording.line_of_event, events), as_json=False)
            self.say({}, wording.lines_of_chain(chain, line), as_json=False)
        if not chain.verified:
            raise SystemExit(1)

    def _tell_acts(
        self, actor: Actor, tenant: str, *, by: str, what: str, csv: bool, as_json: bool, **_: Any
    ) -> None:
        require(actor, Verb.ADMINISTER)
        if csv and as_json:
            raise given.Misused("--csv or --json, not both.")
        wanted, tenant_id = Wanted(by=by, what=what), given.the_tenant(actor, tenant)
        if csv:
            most = pages_acts.MOST_IN_A_SHEET
            for line in pages_acts.sheet(actor, tenant_id, wanted, most=most):
                self.stdout.write(line, ending="")
            return
        found = pages_acts.acts_of(actor, tenant_id, wanted, position=None)
        acts = [_told(act) for act in found.acts]
        answer = {"tenant": tenant, "fault": found.fault, "acts": acts}
        self.say(answer, _lines(found), as_json=as_json)
        if found.fault:
            raise SystemExit(1)


def _told(act: Act) -> dict[str, Any]:
    event = act.event
    return {
        "seq": event.seq,
        "at": event.at.isoformat(),
        "actor": event.actor,
        "kind": event.kind,
        "run": str(act.run) if act.run else None,
        "about": act.about,
        "hash": event.hash,
    }


def _lines(found: Acts) -> Iterator[str]:
    for act in found.acts:
        at = f"{act.event.at:%Y-%m-%d %H:%M:%S} UTC"
        yield f"{act.event.seq} {at} {act.event.actor or 'the system'}: {act.says} {act.about}"
    if found.fault:
        yield f"The chain is broken: {found.fault}; `manage.py verify` says more."
    elif found.found.older:
        yield f"The newest {len(found.acts)} that fit; --csv has more."
