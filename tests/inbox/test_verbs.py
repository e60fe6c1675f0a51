"""One small run for each thing a step may do, through the real engine."""

from pathlib import Path
from typing import Any

import pytest

from runs.examples import queries, receivers
from runs.models import Artifact, Call, Judgement, LogLine, Run, Step
from tests.inbox import driving

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("_sound_afterwards"),
]


def marks_in(folder: Path, name: str) -> int:
    return len(list(folder.glob(f"{name}-*")))


def lines_of(receiver: Path) -> list[str]:
    return [line["line"] for line in receivers.lines_of(receiver)]


def a_crash_after_the_effect(monkeypatch: pytest.MonkeyPatch, *, of: str) -> None:
    """The first answer gets lost on its way back."""
    real = receivers._send
    lost: list[str] = []

    def losing_the_first_answer(request: dict[str, Any], **more: Any) -> dict[str, Any]:
        answer = real(request, **more)
        if not lost:
            lost.append(of)
            raise TimeoutError("no answer came back, on purpose")
        return answer

    monkeypatch.setattr(receivers, "_send", losing_the_first_answer)


def let_retries_come_due(run_id: Any, *, at_most: int = 10) -> None:
    for _ in range(at_most):
        if Run.objects.get(pk=run_id).state != "waiting":
            return
        if driving.open_wait(run_id).kind not in ("retry", "timer"):
            return
        driving.let_the_wait_fall_due(run_id)
        driving.work()


def test_a_failing_step_is_tried_again_and_a_patient_one_waits(tmp_path: Path) -> None:
    run_id = driving.start("example_retry", folder=str(tmp_path), failures=2)

    driving.work()
    let_retries_come_due(run_id)

    assert driving.state_of(run_id) == "succeeded done"
    assert marks_in(tmp_path, "failing") == 3
    assert marks_in(tmp_path, "patient") == 2


def test_pages_write_every_row_once() -> None:
    run_id = driving.start("example_pages", count=25, size=10)

    driving.work()

    assert driving.facts_of(run_id) == {"total": 325}
    assert [entry.value for entry in queries.entries_of(run_id)] == list(range(1, 26))


def test_each_number_is_judged_once_and_kept(tmp_path: Path) -> None:
    run_id = driving.start("example_judge", folder=str(tmp_path), count=10, size=3)

    driving.work()

    assert driving.facts_of(run_id) == {"even": 5}
    assert marks_in(tmp_path, "judged") == 10
    assert Judgement.objects.filter(run_id=run_id).count() == 10


@pytest.mark.parametrize("how", ["contract", "probe", "neither"])
def test_a_call_that_is_answered_is_made_once(tmp_path: Path, how: str) -> None:
    receiver = tmp_path / "receiver"

    run_id = driving.start(f"example_call_{how}", receiver=str(receiver))
    driving.work()

    (call,) = Call.objects.filter(run_id=run_id)
    assert driving.state_of(run_id) == "succeeded done"
    assert (call.state, call.receiver_id) == ("confirmed", driving.facts_of(run_id)["receipt"])
    assert lines_of(receiver) == ["arrived", "effect"]


def test_under_a_contract_a_lost_answer_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_crash_after_the_effect(monkeypatch, of="contract")
    run_id = driving.start("example_call_contract", receiver=str(tmp_path / "receiver"))

    driving.work()
    let_retries_come_due(run_id)

    assert driving.state_of(run_id) == "succeeded done"
    assert lines_of(tmp_path / "receiver") == ["arrived", "effect", "arrived", "repeat"]


def test_with_a_probe_a_lost_answer_is_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_crash_after_the_effect(monkeypatch, of="probe")
    run_id = driving.start("example_call_probe", receiver=str(tmp_path / "receiver"))

    driving.work()
    let_retries_come_due(run_id)

    assert driving.state_of(run_id) == "succeeded done"
    assert lines_of(tmp_path / "receiver") == ["arrived", "effect"]


def test_with_neither_a_person_is_asked_and_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_crash_after_the_effect(monkeypatch, of="neither")
    run_id = driving.start("example_call_neither", receiver=str(tmp_path / "receiver"))
    driving.work()
    assert driving.open_wait(run_id).kind == "decision"

    driving.respond(run_id, "happened", receiver_id="receipt-7")
    driving.work()

    assert driving.facts_of(run_id) == {"receipt": "receipt-7"}
    assert lines_of(tmp_path / "receiver") == ["arrived", "effect"]


def test_a_refusal_is_kept_and_not_sent_again(tmp_path: Path) -> None:
    run_id = driving.start(
        "example_call_contract", receiver=str(tmp_path / "receiver"), refuse="no funds"
    )

    driving.work()

    (call,) = Call.objects.filter(run_id=run_id)
    assert call.state == "refused"
    assert driving.open_wait(run_id).kind == "decision"


def test_exactly_the_approved_payments_are_made(tmp_path: Path) -> None:
    receiver = tmp_path / "receiver"
    run_id = driving.start("example_plan", receiver=str(receiver), count=3)
    driving.work()
    assert lines_of(receiver) == []

    driving.approve(run_id, strike=["invoice-2"])
    driving.work()

    paid = [line["resource"] for line in receivers.lines_of(receiver) if line["line"] == "effect"]
    assert paid == ["invoice-1", "invoice-3"]


def test_a_person_is_asked_and_the_answer_goes_on(tmp_path: Path) -> None:
    run_id = driving.start("example_ask", folder=str(tmp_path))
    driving.work()
    assert driving.state_of(run_id) == "waiting"

    driving.respond(run_id, "no")
    driving.work()

    assert driving.facts_of(run_id) == {"answer": "no"}
    assert marks_in(tmp_path, "asked") == 2


@pytest.mark.parametrize("comes", ["before the wait", "after the wait"])
def test_an_event_is_met_whenever_it_comes(comes: str) -> None:
    run_id = driving.start("example_event", order="order-7")
    if comes == "after the wait":
        driving.work()
        assert driving.state_of(run_id) == "waiting"

    driving.deliver("order.paid", "order-7", {"amount": 100})
    driving.work()

    assert driving.facts_of(run_id) == {"payload": {"amount": 100}}


def test_an_event_that_never_comes_fails_the_run_in_time() -> None:
    run_id = driving.start("example_event", order="order-8", patience=1.0)
    driving.work()

    driving.let_the_wait_fall_due(run_id)

    assert driving.state_of(run_id).startswith("failed")


def test_a_sleeping_run_holds_no_worker(tmp_path: Path) -> None:
    run_id = driving.start("example_sleep", seconds=30.0, folder=str(tmp_path))
    driving.work()
    assert driving.open_wait(run_id).kind == "timer"

    driving.let_the_wait_fall_due(run_id)
    driving.work()

    assert driving.facts_of(run_id) == {"slept": 30}
    assert marks_in(tmp_path, "slept") == 2


def test_a_transactional_step_writes_its_rows_with_its_record() -> None:
    run_id = driving.start("example_transactional", count=4)

    driving.work()

    assert driving.facts_of(run_id) == {"written": 4}
    assert queries.entries_of(run_id).count() == 4


def test_a_transactional_step_that_fails_leaves_no_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(*_: Any, **__: Any) -> None:
        raise RuntimeError("the body failed after its rows, on purpose")

    monkeypatch.setattr("runs.examples.verbs.keeping.time.sleep", failing)
    run_id = driving.start("example_transactional", count=4)

    driving.work()

    assert driving.open_wait(run_id).kind == "retry"
    assert queries.entries_of(run_id).count() == 0


def test_log_lines_and_progress_can_be_seen_afterwards() -> None:
    run_id = driving.start("example_log", count=3)

    driving.work()

    step = Step.objects.get(run_id=run_id)
    assert (step.progress_done, step.progress_total) == (3, 3)
    assert LogLine.objects.filter(run_id=run_id, message="counted").count() == 3


def test_an_artifact_is_stored_and_its_reference_kept() -> None:
    run_id = driving.start("example_artifact", size=300_000)

    driving.work()

    stored = Artifact.objects.get(run_id=run_id)
    assert stored.size == driving.facts_of(run_id)["stored"]["size"] == 300_000
