"""Workflows to redo: each step is written down when it is done, and the shop remembers what it was told."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from runs.definition import Approval, Effect, Workflow, registry, step
from runs.ledger import restarting
from tests.effects.shop import AT_ONCE, HARMLESS, Shop
from tests.support import runs


@dataclass(slots=True)
class World:
    """What is outside of the runs: a shop, and how often each body was entered or judged."""

    shop: Shop = field(default_factory=Shop)
    entered: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    wants: dict[str, Any] = field(default_factory=lambda: {"amount": 1})
    resource: str = "book"
    fails: int = 0

    def enters(self, run: Any) -> None:
        self.entered[run.step] += 1


class Guess:
    """A judge that counts how often it was asked."""

    name, parameters = "guess", {"model": 1}

    def __init__(self, world: World) -> None:
        self.world = world

    def input_of(self, subject: Any) -> Any:
        return subject

    def judge(self, question: str, input: Any) -> Any:  # noqa: A002
        self.world.judged[str(input)] += 1
        return {"said": input}


def restart(run_id: UUID, **more: Any) -> restarting.Restarted:
    return restarting.restart(runs.the_operator(), run_id, because="tests", **more)


def made(world: World, **declared: Any) -> list[type[Workflow]]:
    """Three workflows over this world; `declared` changes what the shop's effect promises."""
    shop = world.shop
    sell = shop.sells(**declared)
    delete = Effect("shop.delete", send=shop.send)
    return [_errand(world, sell), _plans(world, delete), _begins_again(world, sell)]


def _errand(world: World, sale: Effect) -> type[Workflow]:
    with registry.isolated():

        class Errand(Workflow):
            """Count, sell, hear, and sum up."""

            name, version = "redone", 1

            @step(writes=["counted"])
            def count(self, run: Any) -> None:
                world.enters(run)
                for page in run.pages(range(6), size=2):
                    for number in page:
                        run.judge("what?", number, by=Guess(world))
                    with run.checkpoint(cursor=page.end):
                        pass
                run.write("counted", 6)

            @step(reads=["counted"], writes=["sold"], effects=[sale], retry=AT_ONCE)
            def sell(self, run: Any) -> None:
                world.enters(run)
                answer = run.call(sale, resource=world.resource, request=dict(world.wants))
                if run.attempt <= world.fails:
                    raise RuntimeError("the shop's door is shut")
                run.write("sold", answer)

            @step(reads=["sold"], writes=["heard"])
            def hear(self, run: Any) -> None:
                world.enters(run)
                run.write("heard", run.wait_for("paid", correlation_id=str(run.id)))

            @step(reads=["counted", "heard"], writes=["done"])
            def conclude(self, run: Any) -> None:
                world.enters(run)
                run.write("done", run.ask("ok", question="Is it right?")["option"])

    return Errand


def _plans(world: World, delete: Effect) -> type[Workflow]:
    with registry.isolated():

        class Plans(Workflow):
            """Propose, and delete what was approved."""

            name, version = "redone_plan", 1

            @step(writes=["list"])
            def propose(self, run: Any) -> None:
                world.enters(run)
                for name in ("a", "b"):
                    run.plan("list", delete, resource=name, request={"id": name, **world.wants})

            @step(reads=["list"], writes=["gone"], effects=[delete], approval=Approval(of="list"))
            def purge(self, run: Any) -> None:
                world.enters(run)
                run.write("gone", dict(run.apply("list")))

            @step(reads=["gone"], writes=["told"])
            def tell(self, run: Any) -> None:
                world.enters(run)
                run.write("told", run.ask("ok", question="Is it right?")["option"])

    return Plans


def _begins_again(world: World, sale: Effect) -> type[Workflow]:
    with registry.isolated():

        class BeginsAgain(Workflow):
            """Begins anew by itself when its only step gives up."""

            name, version = "begins_again", 1

            class Input:
                sells: bool = False

            @step(
                reads=["sells"],
                writes=["out"],
                effects=[sale],
                retry=AT_ONCE,
                on_exhausted="restart",
            )
            def go(self, run: Any) -> None:
                world.enters(run)
                if run.read("sells"):
                    run.call(sale, resource="book", request={})
                if world.entered["go"] <= world.fails:
                    raise RuntimeError("not yet")
                run.write("out", run.attempt)

    return BeginsAgain


__all__ = ["HARMLESS", "World", "made", "restart"]
