"""The command `workers`: who executes steps, by their leases; let one finish, or take its run."""

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any
from uuid import UUID

from runs.engine.evicting import evict
from runs.ledger import draining
from runs.ledger.evicting import Eviction
from runs.management import given, wording
from runs.management.verbs import VerbCommand
from runs.queries import crew
from runs.queries.clock import db_now
from runs.queries.crew import Hand
from runs.queries.recovery import WINDOW, figures, recoveries
from runs.queries.shown import moment
from runs.rules.policy import Actor, Verb, require

TIMES = ("started_at", "renewed_at", "lease_until", "ended_at")


class Command(VerbCommand):
    help = "Lists the workers as they stand by their leases, drains some, or evicts a lost one."
    verbs = (
        ("list", "who is working, idle, draining, or stale because its lease is over"),
        ("drain", "let workers finish what they hold and take nothing more; --undo takes it back"),
        ("evict", "take the run of a worker that is believed lost, and give it to the next one"),
    )

    def arguments_of_list(self, parser: ArgumentParser) -> None:
        parser.add_argument("--all", action="store_true", help="the last hundred gone ones too")

    def arguments_of_drain(self, parser: ArgumentParser) -> None:
        parser.add_argument("worker", nargs="*", help="the beginning of an id, or HOST/PID")
        parser.add_argument("--all", action="store_true", help="every worker there is")
        parser.add_argument("--undo", action="store_true", help="let them take work again")
        parser.add_argument("--because", default="", metavar="TEXT", help="kept in the audit")

    def arguments_of_evict(self, parser: ArgumentParser) -> None:
        parser.add_argument("worker", help="the beginning of an id, or HOST/PID")
        parser.add_argument(
            "--reason",
            "--because",
            dest="because",
            required=True,
            metavar="TEXT",
            help="kept in the audit",
        )
        parser.add_argument(
            "--though-alive",
            action="store_true",
            help="also when its lease is good, so that it may be at work",
        )

    def do_list(self, _: Actor, *, as_json: bool, **said: Any) -> None:
        hands, now = crew.crew(also_gone=said["all"]), db_now()
        found = figures(recoveries(since=now - WINDOW))
        lines = [*wording.lines_of_crew(hands, now=now), *wording.lines_of_recovery(found)]
        shown = [_shown(hand) for hand in hands]
        self.say({"workers": shown, "recovery_seconds": asdict(found)}, lines, as_json=as_json)

    def do_drain(self, actor: Actor, *, worker: list[str], as_json: bool, **said: Any) -> None:
        require(actor, Verb.OPERATE)
        if bool(worker) == said["all"]:
            raise given.Misused("Name workers, or say --all.")
        meant = [hand.id for hand in crew.crew(also_gone=False)] if said["all"] else _named(worker)
        act, done, words = (
            (draining.take_back, "taken_back", "takes work again")
            if said["undo"]
            else (draining.drain, "drained", "takes nothing more")
        )
        moved = [each for each in meant if act(actor, each, because=said["because"])]
        left = [worker_id for worker_id in meant if worker_id not in moved]
        lines = [f"{each} {words}" for each in moved] or ["No worker was changed."]
        answer = {done: [str(each) for each in moved], "gone": [str(each) for each in left]}
        self.say(answer, lines, as_json=as_json)
        if left:
            why = "Not drained by anybody, or gone" if said["undo"] else "Draining or gone already"
            raise given.NoSuchWorker(f"{why}: {', '.join(map(str, left))}.")

    def do_evict(self, actor: Actor, *, worker: str, as_json: bool, **said: Any) -> None:
        require(actor, Verb.OPERATE)
        hand = crew.hand_named(given.the_worker(worker))
        if hand is None:
            raise given.NoSuchWorker(f"The worker {worker!r} went away meanwhile.")
        asked = Eviction(
            worker_id=hand.id,
            because=said["because"],
            though_alive=said["though_alive"],
            seen=hand.run_id or "",
        )
        done = evict(actor, asked)
        placed = [f"{run_id} is taken from it" for run_id in done.runs]
        would_not = ["Its process would not die; the watch takes its run once it is dead."]
        lines = would_not if done.lives else placed or ["It is declared lost; it held no run."]
        taken = [str(run_id) for run_id in done.runs]
        self.say({"taken": taken, "process_lives": done.lives}, lines, as_json=as_json)


def _named(texts: list[str]) -> list[UUID]:
    return [given.the_worker(text) for text in texts]


def _shown(hand: Hand) -> dict[str, Any]:
    times = {name: moment(getattr(hand, name)) for name in TIMES}
    run_id = str(hand.run_id) if hand.run_id else None
    return {**asdict(hand), **times, "id": str(hand.id), "run_id": run_id}
