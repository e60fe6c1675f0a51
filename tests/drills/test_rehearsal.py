"""A rehearsal is armed on a database of its own only, and then no effect reaches its real receiver."""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings

from config.environment import ROOT
from runs.definition import Contract, Effect, NotSent, Refused
from runs.engine import drill_rehearsal
from runs.engine.drill_receiver import Counted
from runs.engine.drill_rehearsal import NotAScratch, Rehearsal
from runs.ledger import drills
from runs.ledger.drills import NotAScratch as NotEmpty
from tests.support.runs import a_run
from tests.support.waiting import PATIENCE, eventually


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The counting receiver, a process of its own."""
    port = tmp_path_factory.mktemp("receiver") / "port"
    command = [sys.executable, "-m", "runs.engine.drill_receiver", str(port)]
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        eventually(port.exists, what="the receiver answers")
        yield f"http://127.0.0.1:{port.read_text()}"
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def turned(receiver: str) -> Iterator[str]:
    """This process sends to the receiver, for the length of a test."""
    drill_rehearsal.misbehave(receiver, patience=1.0)
    drill_rehearsal.turn(Rehearsal(mark="m", receiver=receiver, patience=PATIENCE))
    yield receiver
    drill_rehearsal.turn_back()


def an_effect(**more: Any) -> Effect:
    def really(request: dict[str, Any], /, *, key: str, timeout: float) -> dict[str, Any]:
        raise AssertionError("the real receiver was called")

    return Effect("shop.pay", send=really, **{"contract": Contract("once", window=None), **more})


def sent(effect: Effect, key: str, *, timeout: float = PATIENCE) -> dict[str, Any]:
    return effect.send({"amount": 1}, key=key, timeout=timeout)


def test_a_database_that_has_held_a_run_cannot_be_marked(transactional_db: None) -> None:
    a_run("example_log")

    with pytest.raises(NotEmpty):
        drills.mark_scratch("mark")


def test_time_is_hastened_in_a_marked_database_only(db: None) -> None:
    with pytest.raises(NotEmpty):
        drills.hasten(1)


@pytest.mark.parametrize(
    ("told", "marked"),
    [("another", "mark"), ("mark", ""), ("", "")],
)
def test_a_process_told_to_rehearse_without_the_mark_of_its_database_refuses(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str, marked: str
) -> None:
    if marked:
        drills.mark_scratch(marked)
    file = tmp_path / "drill.json"
    file.write_text(json.dumps({"mark": told, "receiver": "http://127.0.0.1:1", "patience": 1}))
    monkeypatch.setenv(drill_rehearsal.TOLD, str(file))

    with override_settings(VAR_DIR=tmp_path), pytest.raises(NotAScratch):
        drill_rehearsal.arm()


def test_the_file_has_to_lie_in_the_installation_itself(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(drill_rehearsal.TOLD, str(tmp_path / "elsewhere" / "drill.json"))

    with override_settings(VAR_DIR=tmp_path), pytest.raises(NotAScratch):
        drill_rehearsal.arm()


@pytest.mark.one_database
def test_every_effect_is_turned_to_the_receiver_also_one_that_is_made_later(
    receiver: str,
) -> None:
    before = an_effect()
    own = before.send
    drill_rehearsal.turn(Rehearsal(mark="m", receiver=receiver, patience=PATIENCE))
    try:
        later = an_effect(rehearsed=lambda request: {"id": f"paid {request['amount']}"})

        assert sent(before, "k1")["rehearsed"] is True
        assert sent(later, "k2") == {"id": "paid 1"}
        assert before == before
    finally:
        drill_rehearsal.turn_back()
    assert before.send is own


@pytest.mark.one_database
def test_a_contract_makes_the_same_key_one_effect_and_no_contract_makes_it_two(
    turned: str,
) -> None:
    kept, broken = an_effect(), an_effect(contract=None)

    assert sent(kept, "once") == sent(kept, "once")
    sent(broken, "twice")
    sent(broken, "twice")

    done = drill_rehearsal.count(turned)["done"]
    assert (done["once"], done["twice"]) == (1, 2)


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("misbehaviour", "raised", "happened"),
    [
        ("drop", http.client.HTTPException, True),
        ("timeout", TimeoutError, False),
        ("refuse", Refused, False),
        ("unavailable", NotSent, False),
    ],
)
def test_the_receiver_misbehaves_at_the_first_arrival_and_then_behaves(
    turned: str, misbehaviour: str, raised: type[Exception], happened: bool
) -> None:
    drill_rehearsal.misbehave(turned, first=[misbehaviour])
    with pytest.raises(raised):
        sent(an_effect(), misbehaviour, timeout=0.2 if raised is TimeoutError else PATIENCE)
    assert (drill_rehearsal.look_up(turned, misbehaviour) is not None) is happened

    assert sent(an_effect(), misbehaviour)["rehearsed"] is True
    drill_rehearsal.misbehave(turned, first=[])
    assert drill_rehearsal.count(turned)["done"][misbehaviour] == 1


@pytest.mark.one_database
def test_what_happens_too_late_has_happened(turned: str) -> None:
    drill_rehearsal.misbehave(turned, first=["late"])
    with pytest.raises(TimeoutError):
        sent(an_effect(), "late", timeout=0.2)
    drill_rehearsal.misbehave(turned, first=[])

    caller, _ = drill_rehearsal.under_way(turned)
    eventually(
        lambda: drill_rehearsal.under_way(turned)[1] > caller, what="who came before is gone"
    )

    assert drill_rehearsal.look_up(turned, "late"), "it happened after all"


@pytest.mark.one_database
def test_who_asks_learns_that_somebody_who_came_before_is_still_there() -> None:
    counted = Counted()
    counted.comes(4)
    counted.comes(7)

    assert counted.under_way(7) == {"caller": 2, "oldest": 1}
    counted.goes(4)
    counted.comes(4)
    assert counted.under_way(7) == {"caller": 2, "oldest": 2}


@pytest.mark.one_database
def test_a_probe_asks_the_receiver_and_keeps_its_time_to_settle(turned: str) -> None:
    from runs.definition import Probe

    settles = timedelta(seconds=9)
    effect = an_effect(probe=Probe(find=lambda key, request: None, settles=settles))
    sent(effect, "probed")

    probe = effect.look_up

    assert probe is not None
    assert probe.settles == settles
    assert probe.find("probed", {}) is not None
    assert probe.find("never", {}) is None


@pytest.mark.one_database
def test_a_receiver_that_is_away_has_taken_nothing() -> None:
    drill_rehearsal.turn(Rehearsal(mark="m", receiver="http://127.0.0.1:9", patience=0.2))
    try:
        with pytest.raises(NotSent):
            sent(an_effect(), "away")
    finally:
        drill_rehearsal.turn_back()
    assert "MILEPOST_DRILL" not in os.environ
