"""Bodies that leave a line wherever they come by, hang, hold on, or start others."""

import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from runs.definition import Contract, Effect, Probe, Retry, Waived, Workflow, step
from runs.examples import ledger, receivers
from tests.durability.bodies import queries

QUICK = Retry(attempts=3, base=timedelta(milliseconds=50), maximum=timedelta(milliseconds=200))
WAIVED = Waived("The receiver is a counter made for these tests.")


def leave_a_line(run: Any, *more: object) -> None:
    """One write with O_APPEND: lines of several processes do not mix."""
    line = " ".join(str(part) for part in (run.id, run.step, run.attempt, os.getpid(), *more))
    descriptor = os.open(run.read("lines"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(descriptor, line.encode() + b"\n")
    os.close(descriptor)


def stay(seconds: float, *, gate: str = "") -> None:
    """For so long; with a gate until that file is there, so that a test says when."""
    while gate and not Path(gate).exists():
        time.sleep(0.02)
    time.sleep(0 if gate else seconds)


class LinesThrice(Workflow):
    """Three steps, each leaves one line; the second one waits for its gate."""

    name, version = "lines_thrice", 1

    class Input:
        lines: str
        pause: float = 0.0
        gate: str = ""

    @step(reads=["lines", "pause"])
    def first(self, run: Any) -> None:
        time.sleep(run.read("pause"))
        leave_a_line(run)

    @step(reads=["lines", "pause", "gate"])
    def second(self, run: Any) -> None:
        stay(run.read("pause"), gate=run.read("gate"))
        leave_a_line(run)

    @step(reads=["lines", "pause"])
    def third(self, run: Any) -> None:
        time.sleep(run.read("pause"))
        leave_a_line(run)


class DiesAgain(Workflow):
    """Kills its worker so many times, then goes on; counted by its lines."""

    name, version = "dies_again", 1

    class Input:
        lines: str
        deaths: int

    @step(reads=["lines", "deaths"])
    def die(self, run: Any) -> None:
        leave_a_line(run)
        if len(Path(run.read("lines")).read_text().splitlines()) <= run.read("deaths"):
            os.kill(os.getpid(), 9)


class DiesOnEachPage(Workflow):
    """Kills its worker once on each page, behind the page's checkpoint."""

    name, version = "dies_on_each_page", 1

    class Input:
        lines: str
        pages: int

    @step(reads=["lines", "pages"])
    def turn(self, run: Any) -> None:
        for page in run.pages(range(run.read("pages")), size=1):
            with run.checkpoint(cursor=page.end):
                pass
            leave_a_line(run, page.end.ordinal)
            os.kill(os.getpid(), 9)


class StaysOnEachPage(Workflow):
    """Stays behind the checkpoint of each page until it is killed; the next attempt goes on there."""

    name, version = "stays_on_each_page", 1

    class Input:
        lines: str
        pages: int

    @step(reads=["lines", "pages"])
    def turn(self, run: Any) -> None:
        for page in run.pages(range(run.read("pages")), size=1):
            with run.checkpoint(cursor=page.end):
                pass
            leave_a_line(run, page.end.ordinal)
            if page.end.ordinal < run.read("pages"):
                time.sleep(300)


class Stays(Workflow):
    """Stays in its body for some seconds or until its gate is there, and says when it came and went."""

    name, version = "stays", 1

    class Input:
        lines: str
        seconds: float = 600.0
        gate: str = ""

    @step(reads=["lines", "seconds", "gate"])
    def stay(self, run: Any) -> None:
        leave_a_line(run, "came")
        stay(run.read("seconds"), gate=run.read("gate"))
        leave_a_line(run, "went")

    @step(reads=["lines"])
    def after(self, run: Any) -> None:
        leave_a_line(run)


class Limited(Workflow):
    """Never ends by itself: it sleeps, shrugs, holds the interpreter or matches at its first attempt."""

    name, version = "limited", 1

    class Input:
        lines: str
        how: str

    @step(reads=["lines", "how"], timeout=timedelta(seconds=1), retry=QUICK)
    def linger(self, run: Any) -> None:
        leave_a_line(run)
        if run.attempt == 1:
            HOWS[run.read("how")]()


def _sleep() -> None:
    time.sleep(300)


def _shrug() -> None:
    while True:
        with suppress(BaseException):
            time.sleep(300)


def _match_for_ever() -> None:
    """A catastrophic regular expression: it backtracks for longer than anybody lives."""
    re.fullmatch(r"(a|aa)+b", "a" * 200)


def _hold_the_interpreter() -> None:
    """One call into C that lasts longer than any test."""
    sum(range(10**13))


HOWS = {
    "sleeps": _sleep,
    "shrugs": _shrug,
    "holds": _hold_the_interpreter,
    "matches": _match_for_ever,
}


class KeepsTheLock(Workflow):
    """Holds a transaction, its run's row in it, for some seconds; at its first attempt only."""

    name, version = "keeps_the_lock", 1

    class Input:
        lines: str
        seconds: float
        always: bool = False

    @step(reads=["lines", "seconds", "always"], transactional=True, retry=QUICK)
    def write(self, run: Any) -> None:
        ledger.keep_entries(run.id, step=run.step, attempt=run.attempt, values=[1])
        run.progress(1, 2)
        leave_a_line(run)
        if run.attempt == 1 or run.read("always"):
            time.sleep(run.read("seconds"))


class HasChildren(Workflow):
    """Starts a program that would outlive it, and stays."""

    name, version = "has_children", 1

    class Input:
        lines: str

    @step(reads=["lines"])
    def start(self, run: Any) -> None:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
        leave_a_line(run, child.pid)
        if run.attempt == 1:
            time.sleep(300)
        child.kill()
        child.wait()


class AsksTheDatabase(Workflow):
    """Is in the middle of a long statement when its limit is over; at its first attempt only."""

    name, version = "asks_the_database", 1

    class Input:
        lines: str

    @step(reads=["lines"], timeout=timedelta(seconds=1), retry=QUICK)
    def ask(self, run: Any) -> None:
        leave_a_line(run)
        if run.attempt == 1:
            queries.ask_for_long()


settled = Effect(
    "test.settled",
    send=receivers.send_plainly,
    probe=Probe(find=receivers.find, settles=timedelta(seconds=1)),
    timeout=timedelta(seconds=1),
)
kept = Effect(
    "test.kept",
    send=receivers.send_with_contract,
    contract=Contract("The same key is one payment.", window=None),
    timeout=timedelta(seconds=20),
)


class Settles(Workflow):
    """One call to a receiver that may show a call only a while after it happened."""

    name, version = "settles", 1

    class Input:
        receiver: str
        before_effect: float = 0.0

    @step(reads=["receiver", "before_effect"], effects=[settled], approval=WAIVED, retry=QUICK)
    def pay(self, run: Any) -> None:
        request = {
            "receiver": run.read("receiver"),
            "resource": "it",
            "before_effect": run.read("before_effect"),
        }
        run.call(settled, resource="it", request=request)


class ChangesItsMind(Workflow):
    """Dies at its first attempt after a call; the second one names another resource or request."""

    name, version = "changes_its_mind", 1

    class Input:
        receiver: str
        lines: str
        changes: str

    @step(reads=["receiver", "lines", "changes"], effects=[kept], approval=WAIVED, retry=QUICK)
    def pay(self, run: Any) -> None:
        leave_a_line(run)
        again, changes = run.attempt > 1, run.read("changes")
        resource = "B" if again and changes == "resource" else "A"
        amount = 2 if again and changes == "request" else 1
        request = {"receiver": run.read("receiver"), "resource": resource, "amount": amount}
        run.call(kept, resource=resource, request=request)
        if not again:
            os.kill(os.getpid(), 9)


class WaitsOften(Workflow):
    """Waits for one event after the other."""

    name, version = "waits_often", 1

    class Input:
        order: str
        times: int

    @step(reads=["order", "times"], writes=["sums"])
    def wait(self, run: Any) -> None:
        sums = [
            run.wait_for("order.paid", correlation_id=f"{run.read('order')}-{number}")["sum"]
            for number in range(run.read("times"))
        ]
        run.write("sums", sums)


class PaysAndAsks(Workflow):
    """Two calls to a receiver that counts, and then a question, so that it can be redone."""

    name, version = "pays_and_asks", 1

    class Input:
        receiver: str

    @step(writes=["began"])
    def begin(self, run: Any) -> None:
        run.write("began", True)

    @step(reads=["receiver"], writes=["paid"], effects=[kept], approval=WAIVED, retry=QUICK)
    def pay(self, run: Any) -> None:
        for name in ("A", "B"):
            request = {"receiver": run.read("receiver"), "resource": name}
            run.call(kept, resource=name, request=request)
        run.write("paid", 2)

    @step(reads=["paid"], writes=["right"])
    def check(self, run: Any) -> None:
        run.write("right", run.ask("right", question="Is it right?")["option"])


counter_pay = Effect(
    "counter.pay",
    send=receivers.send_with_contract,
    contract=Contract("The same key twice is one payment and one answer.", window=None),
    timeout=timedelta(seconds=2),
    relay=True,
)
blind_pay = Effect(
    "blind.pay", send=receivers.send_plainly, timeout=timedelta(seconds=1), relay=True
)


patient_pay = Effect(
    "blind.pay_later", send=receivers.send_plainly, timeout=timedelta(minutes=10), relay=True
)


class _Relays(Workflow, abstract=True):
    """Some payments, one after the other, each by a courier."""

    class Input:
        receiver: str
        times: int = 1
        before_effect: float = 0.0
        resource: str = "invoice"


def _relay(run: Any, effect: Effect) -> None:
    for number in range(run.read("times")):
        resource = f"{run.read('resource')}-{number}"
        request = {"receiver": run.read("receiver"), "resource": resource}
        request["before_effect"] = run.read("before_effect")
        run.call(effect, resource=resource, request=request)


RELAYED = ("receiver", "times", "before_effect", "resource")


class Relays(_Relays):
    """To a receiver that keeps a contract."""

    name, version = "relays", 1

    @step(reads=RELAYED, effects=[counter_pay], approval=WAIVED)
    def pay(self, run: Any) -> None:
        _relay(run, counter_pay)


class RelaysBlindly(_Relays):
    """To a receiver that promises nothing."""

    name, version = "relays_blindly", 1

    @step(reads=RELAYED, effects=[blind_pay], approval=WAIVED)
    def pay(self, run: Any) -> None:
        _relay(run, blind_pay)


class RelaysPatiently(_Relays):
    """To one that promises nothing and may take longer than any test."""

    name, version = "relays_patiently", 1

    @step(reads=RELAYED, effects=[patient_pay], approval=WAIVED)
    def pay(self, run: Any) -> None:
        _relay(run, patient_pay)
