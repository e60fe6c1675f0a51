"""The command `workers`: who executes steps, by their leases; let one finish and take no more."""

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any
from uuid import UUID

from runs.ledger import workers
from runs.management import given, wording
from runs.management.verbs import VerbCommand
from runs.queries import crew
from runs.queries.clock import db_now
from runs.queries.crew import Hand
from runs.queries.shown import moment
from runs.rules.policy import Actor, Verb, require

TIMES = ("started_at", "renewed_at", "lease_until", "ended_at")


class Command(VerbCommand):
    help = "Lists the workers as they stand by their leases, or drains some."
    verbs = (
        ("list", "who is working, idle, draining, or stale because its lease is over"),
        ("drain", "let workers finish what they hold and take nothing more"),
    )

    def arguments_of_list(self, parser: ArgumentParser) -> None:
        parser.add_argument("--all", action="store_true", help="the last hundred gone ones too")

    def arguments_of_drain(self, parser: ArgumentParser) -> None:
        parser.add_argument("worker", nargs="*", help="the beginning of an id, or HOST/PID")
        parser.add_argument("--all", action="store_true", help="every worker there is")

    def do_list(self, _: Actor, *, as_json: bool, **said: Any) -> None:
        hands = crew.crew(also_gone=said["all"])
        lines = wording.lines_of_crew(hands, now=db_now())
        self.say({"workers": [_shown(hand) for hand in hands]}, lines, as_json=as_json)

    def do_drain(self, actor: Actor, *, worker: list[str], as_json: bool, **said: Any) -> None:
        require(actor, Verb.OPERATE)
        if bool(worker) == said["all"]:
            raise given.Misused("Name workers, or say --all.")
        meant = [hand.id for hand in crew.crew(also_gone=False)] if said["all"] else _named(worker)
        drained = [worker_id for worker_id in meant if workers.drain(worker_id)]
        gone = [worker_id for worker_id in meant if worker_id not in drained]
        lines = [f"{each} takes nothing more" for each in drained] or ["No worker is alive."]
        answer = {"drained": [str(each) for each in drained], "gone": [str(each) for each in gone]}
        self.say(answer, lines, as_json=as_json)
        if gone:
            raise given.NoSuchWorker(f"Gone already: {', '.join(map(str, gone))}.")


def _named(texts: list[str]) -> list[UUID]:
    return [given.the_worker(text) for text in texts]


def _shown(hand: Hand) -> dict[str, Any]:
    times = {name: moment(getattr(hand, name)) for name in TIMES}
    run_id = str(hand.run_id) if hand.run_id else None
    return {**asdict(hand), **times, "id": str(hand.id), "run_id": run_id}
