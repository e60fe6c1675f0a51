"""The ten questions: what makes each answer pass, fail or unknown."""

from dataclasses import replace

import pytest

from runs.definition import Effect
from runs.rules.certificate import Answer, Certificate, badge_of
from runs.rules.drill_report import Observed
from tests.definition.builders import answers
from tests.definition.certified import (
    a_drill,
    a_plan,
    a_violation,
    answers_of,
    certified,
    evidence_of,
)

pytestmark = pytest.mark.one_database

ASKED = [
    "steps",
    "state",
    "completion",
    "keys",
    "entry",
    "policies",
    "heartbeat",
    "scheduling",
    "version",
    "audit",
]
BY_DRILL = ["steps", "state", "completion", "entry", "scheduling"]


def test_ten_questions_are_asked_and_each_has_evidence() -> None:
    certificate = certified()

    assert [question.id for question in certificate.questions] == ASKED
    assert all(question.evidence for question in certificate.questions)


def test_without_a_drill_what_only_a_drill_shows_is_unknown_and_says_what_to_run() -> None:
    certificate = certified()

    assert {name for name, answer in answers_of(certificate).items() if answer == "unknown"} == set(
        BY_DRILL
    )
    for name in BY_DRILL:
        (missing,) = evidence_of(certificate, name, "unknown")
        assert "manage.py drill paying" in missing.text


def test_a_good_drill_answers_all_of_them() -> None:
    plan = a_plan()

    certificate = certified(plan, a_drill(plan))

    said = answers_of(certificate)
    assert set(said.values()) == {"pass"}
    assert certificate.green


def test_a_step_that_did_what_it_does_not_declare_fails_with_the_line() -> None:
    plan = a_plan()
    seen = Observed(step="propose", what="wrote a file", detail="/srv/x", file="pay.py", line=7)

    certificate = certified(plan, a_drill(plan, observed=(seen,)))

    for name in ("steps", "state"):
        (failed,) = evidence_of(certificate, name, "fail")
        assert "propose wrote a file (/srv/x) at pay.py:7" in failed.text
        assert failed.about == "step:propose"


def test_what_a_step_with_effects_did_is_its_business() -> None:
    plan = a_plan()
    seen = Observed(
        step="settle",
        what="opened a socket",
        detail="bank:443",
        file="pay.py",
        line=9,
        declares_effects=True,
    )

    assert answers_of(certified(plan, a_drill(plan, observed=(seen,))))["steps"] == "pass"


def test_files_that_are_declared_are_a_steps_own_and_a_socket_is_not_covered_by_them() -> None:
    plan = a_plan()
    seen = Observed(
        step="propose",
        what="wrote a file",
        detail="/srv/x",
        file="pay.py",
        line=7,
        declares_files=True,
    )
    socket = replace(seen, what="opened a socket")

    assert answers_of(certified(plan, a_drill(plan, observed=(seen,))))["state"] == "pass"
    assert answers_of(certified(plan, a_drill(plan, observed=(socket,))))["steps"] == "fail"


def test_why_a_steps_own_files_survive_is_said_among_the_evidence() -> None:
    plan = a_plan()
    why = "Written aside, and renamed whole."
    first = replace(plan.steps[0], files=why)

    certificate = certified(replace(plan, steps=(first, *plan.steps[1:])))

    said = [each.text for each in evidence_of(certificate, "state", "pass")]
    assert f"{first.key} keeps files of its own: “{why}”" in said


def test_a_duplicate_at_the_receiver_fails() -> None:
    plan = a_plan()

    certificate = certified(plan, a_drill(plan, effects=5, duplicates=1))

    (failed,) = evidence_of(certificate, "completion", "fail")
    assert failed.text == "5 effects at the receiver under 4 keys: 1 duplicate."
    assert failed.about == "drill:d1"


def test_an_effect_that_nobody_can_be_asked_about_fails() -> None:
    plan = a_plan(Effect("bank.pay", send=answers))

    certificate = certified(plan, a_drill(plan))

    (failed,) = evidence_of(certificate, "keys", "fail")
    assert "give the effect a contract= or a probe=" in failed.text
    assert answers_of(certificate)["completion"] == "pass"


def test_a_waiver_is_named_with_its_reason() -> None:
    certificate = certified(a_plan(waived="The bank asks by itself."))

    (waiver,) = certificate.waivers
    assert (waiver.step, waiver.effects, waiver.reason) == (
        "settle",
        ("bank.pay",),
        "The bank asks by itself.",
    )
    assert any(
        "The bank asks by itself." in e.text for e in evidence_of(certificate, "keys", "pass")
    )


def test_a_heartbeat_passes_and_says_after_how_long_people_are_told() -> None:
    said = [each.text for each in evidence_of(certified(), "heartbeat", "pass")]

    assert any("it raises an alert" in text for text in said)


def test_no_heartbeat_fails() -> None:
    (failed,) = evidence_of(certified(a_plan(beats=False)), "heartbeat", "fail")

    assert "heartbeat = Heartbeat(every=..., grace=..., progress=...)" in failed.text


@pytest.mark.parametrize(
    ("lacking", "unknown", "command"),
    [
        ({"kills": 0}, {"state", "entry"}, "drill paying --matrix"),
        ({"redeliveries": 0}, {"scheduling"}, "drill paying --redeliver"),
    ],
)
def test_a_drill_that_did_not_try_something_shows_nothing_of_it(
    lacking: dict[str, int], unknown: set[str], command: str
) -> None:
    plan = a_plan()

    certificate = certified(plan, a_drill(plan, **lacking))

    said = answers_of(certificate)
    assert {name for name in said if said[name] == "unknown"} == unknown
    for name in unknown:
        assert command in evidence_of(certificate, name, "unknown")[0].text


@pytest.mark.parametrize(
    ("invariant", "question"),
    [
        ("I1", "state"),
        ("I2", "entry"),
        ("I3", "scheduling"),
        ("I4", "keys"),
        ("I5", "completion"),
        ("I6", "completion"),
        ("I7", "keys"),
        ("I8", "state"),
        ("I9", "version"),
        ("I10", "policies"),
        ("I11", "policies"),
        ("I12", "audit"),
        ("I13", "policies"),
        ("R99", "audit"),
    ],
)
def test_a_broken_invariant_fails_its_question(invariant: str, question: str) -> None:
    plan = a_plan()
    broken = (a_violation(invariant),)

    by_drill = certified(plan, a_drill(plan, violations=broken))
    by_run = certified(plan, violations=broken)

    assert answers_of(by_drill)[question] == "fail"
    assert answers_of(by_drill)["entry"] != "pass"
    (failed,) = evidence_of(by_run, question, "fail")
    assert (failed.about, f"A run breaks {invariant}" in failed.text) == ("run:r1", True)


def test_another_plan_under_the_same_version_fails() -> None:
    (failed,) = evidence_of(certified(stored_hash="f" * 64), "version", "fail")

    assert "give the changed plan the next version" in failed.text


def test_open_runs_that_this_code_would_strand_fail() -> None:
    (failed,) = evidence_of(certified(stranded=1), "version", "fail")

    assert failed.text.startswith("This code can take 1 open run along only if a person says how")


def test_nothing_to_verify_is_unknown_until_a_run_or_a_drill() -> None:
    plan = a_plan()

    assert answers_of(certified(plan, verified=0))["audit"] == "unknown"
    assert answers_of(certified(plan, a_drill(plan), verified=0))["audit"] == "pass"
    assert answers_of(certified(plan))["audit"] == "pass"


def test_a_certificate_is_read_again_as_it_was_written() -> None:
    plan = a_plan(waived="The bank asks by itself.")
    certificate = certified(plan, a_drill(plan))

    assert Certificate.from_text(certificate.to_text()) == certificate


def test_the_badge_is_green_for_ten_answers_of_yes_only() -> None:
    plan = a_plan()
    failing, open_ended = certified(a_plan(beats=False)), certified(plan)

    assert badge_of(None, valid=False).word == "not made"
    assert (badge_of(open_ended, valid=True).word, badge_of(open_ended, valid=True).answer) == (
        "5 of 10",
        Answer.UNKNOWN,
    )
    assert badge_of(certified(plan, a_drill(plan)), valid=True).answer is Answer.PASS
    assert badge_of(failing, valid=True).answer is Answer.FAIL
    assert badge_of(failing, valid=False).word == "expired"
    assert badge_of(failing, valid=False).answer is Answer.UNKNOWN
