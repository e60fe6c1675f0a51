"""Small workflows to pause, resume and correct: they stumble, ask, listen, and pause themselves."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from runs.definition import Effect, Refused, Retry, Workflow, registry, step
from runs.ledger import pausing, resuming
from runs.models import AuditEvent
from tests.support import runs

ONCE = Retry(attempts=1)
TWICE = Retry(attempts=2, base=timedelta(milliseconds=1))


def kinds_of(run_id: UUID) -> list[str]:
    """What has happened to a run, in its order."""
    events = AuditEvent.objects.filter(run=run_id).order_by("seq")
    return list(events.values_list("kind", flat=True))


def _sold(request: Any, *, key: str, timeout: float) -> dict[str, Any]:
    if request["says"] == "refused":
        raise Refused("sold out")
    if request["says"] == "nothing":
        raise TimeoutError("no answer")
    return {"id": key}


def _asked_in_vain(key: str, request: Any) -> None:
    raise OSError("the line is dead")


BUY = Effect("shop.buy", send=_sold, reversible="it is only a line")
ORDER = Effect("shop.order", send=_sold, probe=_asked_in_vain, reversible="it is only a line")


def made() -> list[type[Workflow]]:
    """Declared on a shelf of their own, so that importing this module registers nothing."""
    return [*_that_stop(), *_that_stop_later(), *_that_wait(), *_that_call(), *_that_pause()]


def _that_stop() -> list[type[Workflow]]:
    with registry.isolated():

        class Stumbles(Workflow):
            """Fails at its second step at its first attempts, then goes on."""

            name, version = "stumbles", 1

            class Input:
                mend: int
                paper: str = "white"

            @step(reads=["mend", "paper"], writes=["counted"])
            def count(self, run: Any) -> None:
                run.write("counted", 3)

            @step(reads=["mend", "paper"], writes=["printed"], retry=ONCE, on_exhausted="stop")
            def print(self, run: Any) -> None:
                if run.attempt <= run.read("mend"):
                    raise RuntimeError("out of paper")
                run.write("printed", run.read("paper"))

        class GivesUp(Workflow):
            name, version = "gives_up", 1

            class Input:
                times: int = 9
                word: str = "no"

            @step(reads=["times", "word"], writes=["said"], retry=ONCE)
            def speak(self, run: Any) -> None:
                if run.attempt <= run.read("times"):
                    raise RuntimeError("lost for words")
                run.write("said", run.read("word"))

    return [Stumbles, GivesUp]


def _that_stop_later() -> list[type[Workflow]]:
    with registry.isolated():

        class StumblesAndAsks(Workflow):
            name, version = "stumbles_and_asks", 1

            class Input:
                mend: int

            @step(reads=["mend"], writes=["counted"])
            def count(self, run: Any) -> None:
                run.write("counted", run.read("mend"))

            @step(reads=["counted"], writes=["printed"], retry=ONCE)
            def print(self, run: Any) -> None:
                if run.attempt <= run.read("counted") and not kinds_of(run.id).count(
                    "run.replayed"
                ):
                    raise RuntimeError("out of paper")
                run.write("printed", True)

        class MayBeSkipped(Workflow):
            """Its second step fails; nothing later needs it."""

            name, version = "may_be_skipped", 1

            @step(writes=["counted"])
            def count(self, run: Any) -> None:
                run.write("counted", 3)

            @step(reads=["counted"], writes=["painted"], retry=ONCE, may_skip=True)
            def paint(self, run: Any) -> None:
                raise RuntimeError("out of paint")

            @step(reads=["counted"], writes=["sent"])
            def send(self, run: Any) -> None:
                run.write("sent", run.read("counted"))

        class KeepsASecret(Workflow):
            name, version = "keeps_a_secret", 1

            class Input:
                password: str
                note: str

            @step(reads=["password", "note"], writes=["done"])
            def use(self, run: Any) -> None:
                run.write("done", True)

    return [StumblesAndAsks, MayBeSkipped, KeepsASecret]


def _that_wait() -> list[type[Workflow]]:
    with registry.isolated():

        class Asks(Workflow):
            name, version = "asks", 1

            @step(writes=["answer"])
            def ask(self, run: Any) -> None:
                run.write("answer", run.ask("go", question="Go on?")["option"])

        class Surveys(Workflow):
            """Asks, with an expiry; ends well after a yes, and fails after a no."""

            name, version = "surveys", 1

            class Input:
                about: str = "tea"

            @step(reads=["about"], writes=["answer"])
            def ask(self, run: Any) -> None:
                question = f"More {run.read('about')}?"
                said = run.ask(
                    "more", question=question, expires=timedelta(hours=1), on_expiry="cancel"
                )
                run.write("answer", said["option"])

            @step(reads=["answer"], writes=["done"], retry=ONCE, on_exhausted="stop")
            def end(self, run: Any) -> None:
                if run.read("answer") == "no":
                    raise RuntimeError("nobody wants any")
                run.write("done", True)

        class Listens(Workflow):
            name, version = "listens", 1

            @step(writes=["payload"])
            def listen(self, run: Any) -> None:
                payload = run.wait_for(
                    "order.paid", correlation_id="7", expires=timedelta(hours=1), on_expiry="fail"
                )
                run.write("payload", payload)

    return [Asks, Surveys, Listens]


def _that_call() -> list[type[Workflow]]:
    """Receivers that refuse, or give no answer; each sending leaves a line."""
    with registry.isolated():

        class Buys(Workflow):
            name, version = "buys", 1

            class Input:
                says: str
                log: str

            @step(reads=["says", "log"], effects=[BUY], retry=TWICE)
            def buy(self, run: Any) -> None:
                run.call(BUY, resource="it", request={"says": run.read("says")})

        class BuysTwice(Workflow):
            name, version = "buys_twice", 1

            class Input:
                log: str

            @step(reads=["log"], effects=[BUY], retry=ONCE)
            def buy(self, run: Any) -> None:
                run.call(BUY, resource="one", request={"says": "yes"})
                raise RuntimeError("there is no second one")

        class AsksAfter(Workflow):
            name, version = "asks_after", 1

            class Input:
                log: str

            @step(reads=["log"], effects=[ORDER], retry=TWICE)
            def order(self, run: Any) -> None:
                run.call(ORDER, resource="it", request={"says": "nothing"})

    return [Buys, BuysTwice, AsksAfter]


def _that_pause() -> list[type[Workflow]]:
    with registry.isolated():

        class PausesItself(Workflow):
            name, version = "pauses_itself", 1

            class Input:
                also_resume: bool = False

            @step(reads=["also_resume"], writes=["turned"])
            def turn(self, run: Any) -> None:
                for page in run.pages(range(3), size=1):
                    if page.end.ordinal == 1:
                        pausing.pause(runs.the_operator(), run.id, because="by itself")
                        if run.read("also_resume"):
                            resuming.resume(runs.the_operator(), run.id)
                    with run.checkpoint(cursor=page.end):
                        pass
                run.write("turned", 3)

        class PausesAndAsks(Workflow):
            name, version = "pauses_and_asks", 1

            @step(writes=["answer"])
            def ask(self, run: Any) -> None:
                if run.attempt == 1:
                    pausing.pause(runs.the_operator(), run.id, because="by itself")
                run.write("answer", run.ask("go", question="Go on?")["option"])

        class PausesAndFails(Workflow):
            name, version = "pauses_and_fails", 1

            @step(writes=["nothing"], retry=ONCE, on_exhausted="stop")
            def fail(self, run: Any) -> None:
                pausing.pause(runs.the_operator(), run.id, because="by itself")
                raise RuntimeError("out of paper")

    return [PausesItself, PausesAndAsks, PausesAndFails]
