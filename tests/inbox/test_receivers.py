"""The counting receivers keep exactly the promises that their effects declare."""

from pathlib import Path
from typing import Any

import pytest

from runs.definition import NotSent, Refused
from runs.examples import receivers


def a_payment(receiver: Path | str, **more: Any) -> dict[str, Any]:
    return {"receiver": str(receiver), "resource": "invoice-1", "amount": 100, **more}


def lines_of(receiver: Path) -> list[str]:
    return [line["line"] for line in receivers.lines_of(receiver)]


def test_with_a_contract_the_same_key_is_one_effect_and_one_answer(tmp_path: Path) -> None:
    request = a_payment(tmp_path / "receiver")

    answers = [receivers.send_with_contract(request, key="mp_one", timeout=1) for _ in range(2)]

    assert answers[0] == answers[1]
    assert lines_of(tmp_path / "receiver") == ["arrived", "effect", "arrived", "repeat"]


def test_without_one_the_same_key_is_two_effects(tmp_path: Path) -> None:
    request = a_payment(tmp_path / "receiver")

    for _ in range(2):
        receivers.send_plainly(request, key="mp_one", timeout=1)

    assert lines_of(tmp_path / "receiver").count("effect") == 2


def test_a_probe_finds_what_happened_and_nothing_else(tmp_path: Path) -> None:
    request = a_payment(tmp_path / "receiver")
    answer = receivers.send_plainly(request, key="mp_one", timeout=1)

    assert receivers.find("mp_one", request) == answer
    assert receivers.find("mp_two", request) is None


def test_a_line_that_a_killed_process_did_not_finish_is_passed_over(tmp_path: Path) -> None:
    receivers.send_plainly(a_payment(tmp_path / "receiver"), key="mp_one", timeout=1)
    with (tmp_path / "receiver").open("ab") as receiver:
        receiver.write(b'{"line": "eff')

    assert lines_of(tmp_path / "receiver") == ["arrived", "effect"]


def test_a_refusal_changes_nothing(tmp_path: Path) -> None:
    request = a_payment(tmp_path / "receiver", refuse="no funds")

    with pytest.raises(Refused, match="no funds"):
        receivers.send_with_contract(request, key="mp_one", timeout=1)

    assert lines_of(tmp_path / "receiver") == []


def test_an_address_where_nobody_listens_was_sent_nothing() -> None:
    with pytest.raises(NotSent):
        receivers.send_plainly(a_payment("http://127.0.0.1:9"), key="mp_one", timeout=1)
