"""The verb of `runs` that notes something on a run, or withdraws what one has noted."""

from argparse import ArgumentParser
from typing import Any

from runs.ledger import noting
from runs.management import given
from runs.management.verbs import VerbCommand
from runs.queries.notes import Noted
from runs.rules.policy import Actor


class NotingCommand(VerbCommand):
    """`runs note`."""

    noting: tuple[tuple[str, str], ...] = (
        ("note", "note something on a run, or withdraw what you have noted"),
    )

    def arguments_of_note(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", help="an id, a part of one, or a reference")
        parser.add_argument("text", nargs="?", help="what others should know about it")
        parser.add_argument("--withdraw", type=int, metavar="NUMBER", help="of a note of yours")

    def do_note(
        self,
        actor: Actor,
        *,
        run: str,
        text: str | None,
        withdraw: int | None,
        as_json: bool,
        **_: Any,
    ) -> None:
        if (text is None) == (withdraw is None):
            raise given.Misused("Say what is noted, or which note is withdrawn.")
        found = given.the_run(actor, run, only_one=True)
        if withdraw is not None:
            noting.withdraw(actor, found.pk, withdraw)
            answer = {"id": withdraw, "run": str(found.pk), "withdrawn": True}
            self.say(answer, [f"note {withdraw} is withdrawn"], as_json=as_json)
            return
        kept = noting.note(actor, found.pk, text=text or "")
        answer = {"run": str(found.pk), **Noted(note=kept, mine=True).told()}
        self.say(answer, [f"note {kept.pk} is on run {found.pk}"], as_json=as_json)
