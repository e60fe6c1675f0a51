"""The command `decisions`: the same answers, the same refusals, by exit code."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from approvals.ledger import striking
from approvals.models import Vote
from tests.approvals.builders import a_decision, a_person, acting, again
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)
# Long enough to be in no time and no digest by chance.
SUM = "127791460355"


def said(*arguments: object) -> str:
    out = StringIO()
    call_command("decisions", *map(str, arguments), stdout=out)
    return out.getvalue()


def told(*arguments: object) -> Any:
    return json.loads(said(*arguments, "--json"))


def refused(*arguments: object) -> CommandError:
    with pytest.raises(CommandError) as error:
        said(*arguments)
    return error.value


def test_the_list_names_what_is_open() -> None:
    decision = a_decision()

    (listed,) = told("list")["decisions"]

    assert (listed["id"], listed["kind"], listed["run"]) == (
        decision.pk,
        "plan",
        str(decision.run_id),
    )
    assert decision.question in said("list")


def test_mine_are_those_of_the_groups_of_whoever_is_named() -> None:
    a_person("mara")
    a_person("olga", groups=["bankers"])
    a_decision()

    assert len(told("list", "--state", "mine", "--as", "mara")["decisions"]) == 1
    assert told("list", "--state", "mine", "--as", "olga")["decisions"] == []


def test_one_is_shown_with_its_options_and_what_they_do() -> None:
    decision = a_decision()

    shown = told("show", decision.pk, "--calls")

    assert [option["key"] for option in shown["options"]] == ["approve", "reject"]
    assert shown["options"][0]["needs_comment_and_digest"]
    assert [call["resource"] for call in shown["calls"]] == ["invoice-1", "invoice-2", "invoice-3"]
    assert decision.digest in said("show", decision.pk)


def test_an_approval_names_the_beginning_of_the_digest() -> None:
    decision = a_decision()

    answer = told(
        "approve", decision.pk, "--comment", "Looked at.", "--digest", decision.digest[:12]
    )
    runs.drain()

    assert answer["state"] == "approved"
    assert answer["digest"] == decision.digest
    assert Vote.objects.get().door == "command"
    assert runs.state_of(decision.run_id) == "succeeded"


def test_what_is_left_without_some_calls_can_be_seen_and_then_approved() -> None:
    decision = a_decision()
    left = told("show", decision.pk, "--strike", 1, 3)["digest"]

    said("approve", decision.pk, "--strike", 1, 3, "--comment", "One only.", "--digest", left[:16])
    runs.drain()

    assert left != decision.digest
    assert again(decision).approved_digest == left
    assert runs.facts_of(decision.run_id)["paid"] == {"confirmed": 1, "refused": 0, "struck_off": 2}


@pytest.mark.parametrize("digest", ["", "abc"])
def test_an_approval_without_enough_of_the_digest_is_misuse(digest: str) -> None:
    decision = a_decision()

    error = refused("approve", decision.pk, "--comment", "Looked at.", "--digest", digest)

    assert error.returncode == 2
    assert "at least 12 characters" in str(error)
    assert again(decision).state == "open"


def test_the_name_of_a_run_alone_approves_nothing_because_the_list_may_be_another_by_now() -> None:
    decision = a_decision()
    striking.strike(runs.the_operator(), decision.pk, ordinals=[2], struck=True)

    error = refused(
        "approve", decision.pk, "--comment", "So.", "--confirm", str(decision.run_id)[-6:]
    )

    assert (error.returncode, again(decision).state) == (2, "open")


def test_another_digest_than_the_present_one_is_refused() -> None:
    mara = acting(a_person())
    decision = a_decision()
    striking.strike(mara, decision.pk, ordinals=[1], struck=True)

    error = refused(
        "approve", decision.pk, "--comment", "Looked at.", "--digest", decision.digest[:12]
    )

    assert error.returncode == 1
    assert again(decision).state == "open"


def test_a_rejection_needs_neither_comment_nor_digest() -> None:
    decision = a_decision()

    assert "is rejected, the run is cancelled" in said("reject", decision.pk)


def test_a_question_is_answered_with_fields() -> None:
    decision = a_decision("question")

    told("answer", decision.pk, "--option", "pay_back", "--field", "amount=1200")
    runs.drain()

    assert runs.facts_of(decision.run_id)["answer"]["fields"] == {"amount": 1200, "currency": None}


def test_what_was_filled_in_is_shown_to_who_may_see_payloads() -> None:
    a_person("olga", permissions=["decide"])
    decision = a_decision("question")
    told("answer", decision.pk, "--option", "pay_back", "--field", f"amount={SUM}")

    (hidden,) = told("show", decision.pk, "--as", "olga")["votes"]

    assert SUM not in json.dumps(hidden)
    assert told("show", decision.pk)["votes"][0]["fields"]["amount"] == int(SUM)


@pytest.mark.parametrize(
    "wrong",
    [
        ["--option", "maybe"],
        ["--option", "pay_back", "--field", "amount"],
        ["--option", "pay_back", "--field", "amount=much"],
    ],
)
def test_what_does_not_fit_is_misuse(wrong: list[str]) -> None:
    assert refused("answer", a_decision("question").pk, *wrong).returncode == 2


def test_whoever_is_named_has_no_more_rights_than_on_the_pages() -> None:
    a_person("olga", groups=["bankers"])
    decision = a_decision()

    error = refused(
        "approve", decision.pk, "--as", "olga", "--comment", "x", "--digest", decision.digest
    )

    assert error.returncode == 1
    assert "People in “approvers”" in str(error)


def test_a_name_that_nobody_has_is_misuse() -> None:
    assert refused("list", "--as", "nobody").returncode == 2


def test_what_does_not_exist_or_is_decided_is_wrong() -> None:
    decision = a_decision()
    said("reject", decision.pk)

    again_ = refused("reject", decision.pk)

    assert again_.returncode == 1
    assert "Already rejected by" in str(again_)
    assert refused("show", decision.pk + 1).returncode == 1
