"""In an installation that a drill has made, a courier reaches the counting receiver or nobody."""

from pathlib import Path

import pytest

from runs.engine import drill_rehearsal, relay_courier
from runs.engine.drill_rehearsal import NotAScratch
from runs.ledger import relaying

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_courier_that_is_told_to_rehearse_and_finds_no_mark_sends_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(drill_rehearsal.TOLD, str(tmp_path / "drill.json"))

    with pytest.raises(NotAScratch):
        relay_courier.run_lane("relay shop", stopped=lambda: False, must_end=lambda _: None)


def test_a_courier_that_is_told_to_rehearse_is_armed_before_it_takes_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []
    monkeypatch.setenv(drill_rehearsal.TOLD, "told")
    monkeypatch.setattr(drill_rehearsal, "arm", lambda: done.append("armed"))
    monkeypatch.setattr(relaying, "sweep", lambda lane: done.append(lane))

    relay_courier.run_lane(
        "relay shop", stopped=lambda: "relay shop" in done, must_end=lambda _: None
    )

    assert done == ["armed", "relay shop"]
