"""Rules answer what can be undone, and nothing else; the record says which rule, and which version."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from approvals.ledger import rule_book, ruling
from approvals.ledger.rule_book import RuleChanged, RuleRefused, Terms
from approvals.models import ApprovalRule, Decision, RuleVersion, Vote
from approvals.queries import rules
from approvals.rules.predicate import Unreadable, all_fit, conditions_of
from runs.engine.clockwork import Clockwork
from runs.models import AuditEvent, Message, PlannedCall
from runs.queries.clock import db_now
from runs.queries.verify import violations
from runs.rules import canonical
from runs.rules.policy import NotAllowed
from tests.approvals import workflows
from tests.approvals.agreed import somebody
from tests.approvals.builders import a_decision, a_person, acting, again, decide
from tests.approvals.reading import signed_in, text_of
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _nothing_was_sent() -> None:
    workflows.SENT.clear()


def terms(**more: Any) -> Terms:
    said: dict[str, Any] = {
        "workflow": "refunds",
        "step": "settle",
        "effect": "shop.refund",
        "conditions": "amount <= 100\ncustomer.country is DE",
        "most": 2,
        "ends_at": db_now() + timedelta(days=30),
        "because": "Small refunds are taken back easily.",
    }
    return Terms(**(said | more))


def a_rule(*, enabled: bool = True, **more: Any) -> ApprovalRule:
    tenant_id = runs.the_tenant().pk
    rule = rule_book.write(
        runs.the_operator(), tenant_id=tenant_id, name="small refunds", terms=terms(**more)
    )
    return rule_book.enable(runs.the_operator(), rule.pk, enabled=True) if enabled else rule


def go_round() -> None:
    Clockwork().go_round()


def test_a_rule_answers_what_fits_and_the_record_names_it() -> None:
    rule = a_rule()
    decision = a_decision("refunds", amounts="40 100")

    go_round()
    runs.drain()

    closed, vote = again(decision), Vote.objects.get()
    assert (closed.state, closed.closed_by) == ("approved", "rule “small refunds” version 1")
    assert (vote.door, vote.digest, vote.comment) == (
        "rule",
        decision.digest,
        "Small refunds are taken back easily.",
    )
    said = AuditEvent.objects.filter(run_id=decision.run_id, kind="wait.closed").latest("seq")
    assert canonical.loads(said.body)["rule"] == "small refunds"
    assert [to for _, to in workflows.SENT] == ["refunds-1", "refunds-2"]
    assert rules.current(rule).used == 1
    assert not Message.objects.filter(kind="decision.opened").exists()
    assert violations([decision.run_id]) == []


def test_a_list_of_which_one_call_does_not_fit_is_left_to_people() -> None:
    a_person(email="mara@example.com")
    a_rule()
    decision = a_decision("refunds", amounts="40 101")

    go_round()

    assert (again(decision).state, again(decision).rule_id) == ("open", None)
    assert Message.objects.filter(kind="decision.opened").count() == 1


def test_what_cannot_be_undone_is_answered_by_no_rule_however_it_is_asked() -> None:
    with pytest.raises(RuleRefused, match="cannot be undone"):
        a_rule(workflow="payments", effect="shop.pay")
    version = rules.current(a_rule())
    # As if a rule had been written before its effect lost its way back.
    RuleVersion.objects.filter(pk=version.pk).update(workflow="payments", effect="shop.pay")
    decision = a_decision("payments", count=1)
    with pytest.raises(IntegrityError), transaction.atomic():
        Decision.objects.filter(pk=decision.pk).update(rule=version)

    go_round()

    assert not ruling.answer(decision.pk)
    assert again(decision).state == "open"
    assert workflows.SENT == []


def test_a_single_call_that_can_be_undone_is_answered_by_a_rule_too() -> None:
    a_rule(workflow="one_refund", conditions="amount <= 5")
    small, large = a_decision("one_refund", amount=5), a_decision("one_refund", amount=6)

    go_round()
    runs.drain()

    assert (small.kind, small.irreversible) == ("call", False)
    assert [again(each).state for each in (small, large)] == ["approved", "open"]
    assert len(workflows.SENT) == 1
    assert violations([small.run_id]) == []


def test_what_takes_two_people_is_answered_by_no_rule() -> None:
    a_rule(workflow="refunds_of_two")
    decision = a_decision("refunds_of_two", amounts="1")

    go_round()

    assert again(decision).state == "open"


def test_what_leaves_people_time_to_take_an_answer_back_is_answered_by_no_rule() -> None:
    """A rule would answer at once, and after whoever took their answer back."""
    a_rule(workflow="refunds_later")
    decision = a_decision("refunds_later", amounts="1")

    go_round()

    assert (again(decision).state, again(decision).rule_id) == ("open", None)


def test_a_rule_answers_no_more_than_it_may() -> None:
    rule = a_rule(most=2)
    asked = [a_decision("refunds", amounts="1") for _ in range(3)]

    go_round()

    states = sorted(again(each).state for each in asked)
    assert states == ["approved", "approved", "open"]
    assert rules.current(rule).used == 2
    with pytest.raises(IntegrityError), transaction.atomic():
        RuleVersion.objects.filter(rule=rule).update(used=3)


@pytest.mark.parametrize("how", ["disabled", "over", "changed"])
def test_a_rule_that_ceased_to_count_meanwhile_leaves_it_to_people(how: str) -> None:
    a_person(email="mara@example.com")
    rule = a_rule()
    decision = a_decision("refunds", amounts="1")
    match how:
        case "disabled":
            rule_book.enable(runs.the_operator(), rule.pk, enabled=False)
        case "over":
            now = db_now()
            RuleVersion.objects.update(at=now - timedelta(days=2), ends_at=now)
        case _:
            rule_book.change(runs.the_operator(), rule.pk, terms=terms(conditions="amount < 1"))

    go_round()

    assert again(decision).state == "open"
    assert Message.objects.filter(kind="decision.opened").count() == 1


def test_who_is_faster_than_the_rule_has_answered() -> None:
    rule = a_rule()
    decision = a_decision("refunds", amounts="1")
    decide(acting(a_person()), decision, "reject")

    go_round()

    assert (again(decision).state, again(decision).rule_id) == ("rejected", None)
    assert rules.current(rule).used == 0


def test_altered_bytes_are_approved_by_no_rule() -> None:
    a_rule()
    decision = a_decision("refunds", amounts="1")
    runs.without_guards()
    PlannedCall.objects.update(request='{"amount":2,"customer":{"country":"DE"},"to":"elsewhere"}')
    runs.with_guards()

    go_round()

    assert again(decision).state == "open"


def test_a_rule_says_beforehand_what_it_would_have_done() -> None:
    mara = acting(a_person())
    for amounts, option in (
        ("1", "approve"),
        ("2 99", "approve"),
        ("3", "reject"),
        ("500", "approve"),
    ):
        decide(mara, a_decision("refunds", amounts=amounts), option)
    rule = a_rule(enabled=False)

    dry = rules.dry_run(rules.current(rule), tenant_id=rule.tenant_id)

    assert [each.fits for each in dry.looked_at] == [False, True, True, True]
    assert dry.sentence == "It would have approved 3 of the last 4. People rejected 1 of these."


def test_a_changed_rule_is_another_version_and_is_disabled_until_somebody_enables_it() -> None:
    rule = a_rule()
    first = rules.current(rule)

    changed = rule_book.change(runs.the_operator(), rule.pk, terms=terms(most=9), seen=rule.seq)

    assert (changed.version, changed.enabled) == (2, False)
    assert RuleVersion.objects.get(pk=first.pk).most == 2
    with pytest.raises(RuleChanged):
        rule_book.enable(runs.the_operator(), rule.pk, enabled=True, seen=rule.seq)


def test_who_enables_a_rule_reads_that_what_is_open_stays_open() -> None:
    rule, ann = a_rule(enabled=False), somebody("ann")
    ann.is_superuser = True
    ann.save()
    client = signed_in(ann)
    at = f"/decisions/rules/{rule.pk}/"
    none = text_of(client.get(at))
    decision = a_decision("refunds", amounts="40")
    a_decision("refunds", amounts="400")

    page = text_of(client.get(at))
    said = {"enable": "1", "seen": rule.seq}
    enabled = text_of(client.post(f"{at}switches/", said, follow=True))
    go_round()

    stays = "It answers what is asked from then on; what is open already stays open, for people."
    assert f"{stays} None that would fit is open now." in none
    assert f"{stays} 1 decision that would fit is open now." in page
    assert f"Enabled. {stays} 1 decision" in enabled
    assert again(decision).state == "open"


def test_only_administrators_write_rules() -> None:
    with pytest.raises(NotAllowed):
        rule_book.write(acting(a_person()), tenant_id=runs.the_tenant().pk, name="x", terms=terms())


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"effect": "shop.gift"}, "declares no effect"),
        ({"workflow": "nothing"}, "declares no effect"),
        ({"most": 0}, "whole number"),
        ({"because": " "}, "why nobody"),
        ({"ends_at": db_now}, "ended already"),
        ({"conditions": "amount is about 3 or so?\n%"}, "is no condition"),
        ({"conditions": "rubbish ((( <"}, "is no condition"),
    ],
)
def test_a_rule_that_says_too_little_is_refused(more: dict[str, Any], says: str) -> None:
    more = {name: value() if callable(value) else value for name, value in more.items()}

    with pytest.raises((RuleRefused, Unreadable), match=says):
        a_rule(**more)


@pytest.mark.parametrize(
    ("line", "request_", "fits"),
    [
        ("amount <= 100", {"amount": 100}, True),
        ("amount <= 100", {"amount": 100.5}, False),
        ("amount <= 100", {"amount": "7"}, False),
        ("amount <= 100", {}, False),
        ("amount < 100", {"amount": True}, False),
        ("to.country one of DE, FR", {"to": {"country": "FR"}}, True),
        ("to.country is not DE", {"to": {}}, False),
        ("mail ends with @example.com", {"mail": "a@example.com"}, True),
        ("mail ends with @example.com", {"mail": "a@example.com.evil"}, False),
        ("note does not contain urgent", {"note": "URGENT"}, True),
        ("note is notable", {"note": "other"}, False),
        ("note is not able", {"note": "other"}, True),
        ("amount<=100", {"amount": 100}, True),
        ("lines.0.sku is A", {"lines": [{"sku": "A"}]}, True),
        ("paid is true", {"paid": True}, True),
        ("paid is true", {"paid": "yes"}, False),
    ],
)
def test_a_condition_fits_what_it_says_and_never_what_is_missing(
    line: str, request_: dict[str, Any], fits: bool
) -> None:
    assert all_fit(conditions_of(line), request_) is fits
