"""The command `schedules`: when workflows are due by themselves, and what became of each time."""

from argparse import ArgumentParser
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from runs.ledger import firings, schedules
from runs.management import scheduling
from runs.management.verbs import VerbCommand
from runs.queries import memberships, pages_schedules
from runs.queries.clock import db_now
from runs.queries.schedules import wish_of
from runs.rules.policy import Actor
from runs.rules.schedules import ScheduleRefused

if TYPE_CHECKING:
    from runs.models import Schedule


class Command(VerbCommand):
    help = "Lists, makes, changes, pauses and runs schedules, or shows when one would be due."
    verbs = (
        ("list", "every schedule with its next time and its last result"),
        ("show", "one schedule with its next times and its last firings"),
        ("preview", "the next five times of an expression that nobody has stored"),
        ("add", "make a schedule; without --overlap it is refused"),
        ("change", "change what is named, keep the rest"),
        ("pause", "its times still come, and each is skipped with the reason"),
        ("resume", "let it start runs again"),
        ("run-now", "once more now; its next time stays where it is"),
        ("remove", "it is never due again; its firings stay"),
    )

    def arguments_of_show(self, parser: ArgumentParser) -> None:
        scheduling.name_one(parser)
        parser.add_argument("--firings", type=int, default=10, metavar="N", help="how many of them")

    def arguments_of_preview(self, parser: ArgumentParser) -> None:
        scheduling.timing_arguments(parser)

    def arguments_of_add(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="its name, such as nightly-sync")
        parser.add_argument("workflow")
        scheduling.all_arguments(parser)
        parser.add_argument("--tenant", default=memberships.DEFAULT)

    def arguments_of_change(self, parser: ArgumentParser) -> None:
        scheduling.name_one(parser)
        parser.add_argument("--workflow")
        scheduling.all_arguments(parser)

    def arguments_of_pause(self, parser: ArgumentParser) -> None:
        scheduling.name_one(parser)
        parser.add_argument("--because", required=True, metavar="TEXT")

    arguments_of_remove = arguments_of_pause

    def arguments_of_resume(self, parser: ArgumentParser) -> None:
        scheduling.name_one(parser)

    def act(self, actor: Actor, verb: str, **options: Any) -> None:
        try:
            super().act(actor, verb.replace("-", "_"), **options)
        except ScheduleRefused as refused:
            lines = [f"  {name}: {error}" for name, error in refused.errors.items()]
            raise scheduling.Refused("\n".join(["Refused:", *lines])) from None
        except (schedules.NoSuchSchedule, schedules.ScheduleChanged) as wrong:
            raise scheduling.Refused(str(wrong)) from None

    def do_list(self, actor: Actor, *, as_json: bool, **_: Any) -> None:
        rows = pages_schedules.every_row(actor)
        shown = [scheduling.shown(row) for row in rows]
        self.say({"schedules": shown}, scheduling.lines_of_list(rows), as_json=as_json)

    def do_show(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        row = pages_schedules.row_of(scheduling.the_schedule(actor, said), now=db_now())
        last = pages_schedules.last_firings(row.schedule, amount=said["firings"])
        value = {**scheduling.shown(row), "firings": [scheduling.firing(one) for one in last]}
        self.say(value, scheduling.lines_of_one(row, last), as_json=as_json)

    def do_preview(self, _: Actor, *, as_json: bool, **said: Any) -> None:
        previewed = pages_schedules.preview_of(scheduling.timed(said))
        value = {"words": previewed.words, "next": [scheduling.due(one) for one in previewed.next]}
        lines = [previewed.words, *(scheduling.line_of_due(one) for one in previewed.next)]
        self.say(value, lines, as_json=as_json)

    def do_add(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        made = schedules.create(actor, scheduling.wished(said), tenant=said["tenant"])
        self._told(made, "made", as_json=as_json)

    def do_change(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        found = scheduling.the_schedule(actor, said)
        wish = scheduling.wished(said, was=wish_of(found))
        changed = schedules.change(actor, found.pk, wish, seen=found.revision)
        self._told(changed, "changed", as_json=as_json)

    def do_pause(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        self._moved(actor, said, schedules.pause, "paused", as_json, because=said["because"])

    def do_resume(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        self._moved(actor, said, schedules.resume, "resumed", as_json)

    def do_remove(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        self._moved(actor, said, schedules.remove, "removed", as_json, because=said["because"])

    def arguments_of_run_now(self, parser: ArgumentParser) -> None:
        scheduling.name_one(parser)

    def _add_arguments_of(self, name: str, parser: ArgumentParser) -> None:
        super()._add_arguments_of(name.replace("-", "_"), parser)

    def do_run_now(self, actor: Actor, *, as_json: bool, **said: Any) -> None:
        found = scheduling.the_schedule(actor, said)
        fired = firings.run_now(actor, found.pk)
        run = str(fired.run_id) if fired.run_id else None
        value = {"schedule": found.slug, "state": fired.state, "reason": fired.reason, "run": run}
        line = f"{found.slug}: {fired.state}{f', run {run}' if run else ''}. {fired.reason}"
        self.say(value, [line, "The next time has not moved."], as_json=as_json)
        if fired.state not in ("started", "replaced", "queued"):
            raise scheduling.Refused(f"Nothing was started: {fired.reason}.")

    def _moved(
        self,
        actor: Actor,
        said: dict[str, Any],
        act: Callable[..., "Schedule"],
        done: str,
        as_json: bool,
        **more: Any,
    ) -> None:
        found = scheduling.the_schedule(actor, said)
        self._told(act(actor, found.pk, **more), done, as_json=as_json)

    def _told(self, schedule: "Schedule", done: str, *, as_json: bool) -> None:
        row = pages_schedules.row_of(schedule, now=db_now())
        lines = [f"{schedule.slug} is {done}.", *scheduling.lines_of_one(row, [])]
        self.say(scheduling.shown(row), lines, as_json=as_json)
