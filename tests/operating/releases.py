"""Releases of one workflow, as its author might write them one after the other."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from runs.definition import Contract, Effect, Run, Workflow, registry, step
from runs.definition.approvals import Approval
from runs.definition.workflow import WorkflowType
from runs.engine.worker import Worker
from runs.models import Assignment, Wait
from runs.queries.clock import db_now
from tests.support import runs

NAME = "parcels"
ENTERED: list[str] = []
SENT: list[str] = []


def send(request: Mapping[str, Any], *, key: str, timeout: float) -> dict[str, Any]:
    if key not in SENT:
        SENT.append(key)
    return {"id": key[:12]}


post = Effect(
    "post.send",
    send=send,
    contract=Contract("A parcel of a known key is sent once.", window=None),
    reversible="a parcel can be sent back",
)
changed_post = replace(post, reversible="it comes back by itself")


@dataclass(frozen=True, kw_only=True)
class S:
    """One step of a release: `does` is its body, beside noting that it was entered."""

    name: str
    does: Callable[[Run], None] | None = None
    declares: dict[str, Any] = field(default_factory=dict)

    def body(self) -> Any:
        does = self.does

        def entered(self: Any, run: Run) -> None:
            ENTERED.append(run.step)
            if does is not None:
                does(run)

        entered.__name__ = self.name
        return step(**self.declares)(entered)


def writing(
    name: str, fact: str, value: Any = 1, *, reads: tuple[str, ...] = ("n",), **more: Any
) -> S:
    def does(run: Run) -> None:
        for known in reads:
            run.read(known)
        run.write(fact, value)

    return S(name=name, does=does, declares={"reads": reads, "writes": [fact], **more})


def posting(name: str, effect: Effect = post, *, reads: tuple[str, ...] = ("n",), **more: Any) -> S:
    def does(run: Run) -> None:
        run.call(effect, resource="parcel", request={"to": "ann"})

    return S(name=name, does=does, declares={"reads": reads, "effects": [effect], **more})


def planning(name: str, effect: Effect = post) -> S:
    def does(run: Run) -> None:
        for number in (1, 2):
            run.plan("parcels", effect, resource=str(number), request={"n": number})

    return S(name=name, does=does, declares={"reads": ["n"], "writes": ["parcels"]})


def applying(name: str, effect: Effect = post) -> S:
    def does(run: Run) -> None:
        run.apply("parcels")

    declares = {
        "reads": ["parcels"],
        "effects": [effect],
        "approval": Approval(of="parcels", groups=["approvers"]),
    }
    return S(name=name, does=does, declares=declares)


class Given:
    n: int = 1


@contextmanager
def release(
    *versions: tuple[int, list[S]], migrations: Any = None, given: Any = Given
) -> Iterator[None]:
    """The code that is there: nothing but these versions; migrations belong to the last one."""
    with registry.isolated():
        for number, steps in versions:
            body: dict[str, Any] = {"name": NAME, "version": number, "Input": given}
            body |= {each.name: each.body() for each in steps}
            if migrations and number == versions[-1][0]:
                body["migrations"] = migrations
            WorkflowType("Parcels", (Workflow,), {**body, "__qualname__": f"Parcels{number}"})
        yield


def begun(*, until: str) -> UUID:
    """A run that has been handed back right before this step."""
    # Whoever else is placed waits behind it, or the worker would take them first.
    Assignment.objects.filter(state="placed").update(placed_at=db_now() + timedelta(days=1))
    run_id = runs.a_run(NAME)
    before = len(ENTERED)
    with runs.a_worker() as worker:
        while runs.the_run(run_id).step != until:
            stop = partial(_entered_more_than, len(ENTERED))
            worker.drain_placed(until=float("inf"), stop=stop)
            assert len(ENTERED) - before < 20
    return run_id


def _entered_more_than(amount: int) -> bool:
    return len(ENTERED) > amount


def go_on() -> Worker:
    """A worker of the present code looks after stranded runs, and does all that is placed."""
    with runs.a_worker() as worker:
        worker.caretaker.look_for_questions()
        worker.caretaker.look()
        worker.drain_placed(until=float("inf"), stop=lambda: False)
    return worker


def asked(run_id: UUID) -> dict[str, Any] | None:
    """What the run asks about its version, if it does."""
    wait = Wait.objects.filter(run_id=run_id, state="open", name__startswith="version ").first()
    found: dict[str, Any] | None = runs.asked_of(wait) if wait else None
    return found
