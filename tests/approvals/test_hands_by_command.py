"""The commands of claims, handovers, rules: the same guards as on the pages, by exit code."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from approvals.models import Vote
from runs.engine.clockwork import Clockwork
from tests.approvals.builders import a_decision, a_person, acting, again, decide

pytestmark = pytest.mark.django_db(transaction=True)
TERMS = ("--workflow", "refunds", "--effect", "shop.refund", "--ends", "2099-01-31")


def told(*arguments: object) -> Any:
    out = StringIO()
    call_command("decisions", *map(str, arguments), "--json", stdout=out)
    return json.loads(out.getvalue())


def refused(*arguments: object) -> tuple[int, str]:
    with pytest.raises(CommandError) as error:
        call_command("decisions", *map(str, arguments), stdout=StringIO())
    return error.value.returncode, str(error.value)


def test_a_decision_is_claimed_released_and_handed_over() -> None:
    a_person("mara"), a_person("max")
    decision = a_decision()

    claimed = told("claim", decision.pk, "--as", "mara")
    code, why = refused("claim", decision.pk, "--as", "max")
    handed = told("hand-over", decision.pk, "--to", "max", "--as", "mara")

    assert claimed["claimed_by"] == "mara"
    assert (code, "mara reads it until" in why) == (1, True)
    assert (handed["handed_to"], handed["told"]["by_mail"]) == ("max", [])
    assert handed["not_told"] == ["max"]
    assert refused("release", decision.pk, "--as", "mara")[0] == 1


def test_an_answer_is_taken_back_before_it_takes_effect() -> None:
    decision = a_decision("two_agree")
    decide(acting(a_person()), decision)

    back = told("withdraw", decision.pk, "--because", "not yet", "--as", "mara")

    assert back == {"id": decision.pk, "state": "open", "withdrawn_by": "mara"}
    assert Vote.objects.get().void_because == "taken back: not yet"
    assert refused("withdraw", decision.pk, "--as", "mara")[0] == 1


def test_a_rule_is_tried_written_enabled_and_disabled() -> None:
    decision = a_decision("refunds", amounts="7")
    decide(acting(a_person()), decision)

    tried = told("rules", "dry-run", *TERMS, "--condition", "amount <= 10")
    rule = told("rules", "add", "small", *TERMS, "--because", "Small.", "--condition", "amount < 5")
    shown = told("rules", "show", rule["id"])
    waiting = [a_decision("refunds", amounts=amount) for amount in ("3", "4", "9")]
    enabled = told("rules", "enable", rule["id"])
    Clockwork().go_round()

    assert enabled["stay_open"] == {"fitting": 2, "more": False}
    assert [again(each).state for each in waiting] == ["open"] * 3
    assert again(decision).state == "approved"
    assert tried["dry_run"]["would_have_approved"] == 1
    assert (rule["enabled"], shown["dry_run"]["would_have_approved"]) == (False, 0)
    assert (enabled["enabled"], told("rules", "disable", rule["id"])["enabled"]) == (True, False)
    changed = told("rules", "change", rule["id"], *TERMS, "--because", "Small.", "--most", 3)
    assert (changed["version"], changed["most"]) == (2, 3)
    assert [each["name"] for each in told("rules", "list")["rules"]] == ["small"]


def test_what_a_rule_may_not_say_is_a_misuse_and_who_may_not_is_told_so() -> None:
    a_person("mara")
    payments = ("--workflow", "payments", "--effect", "shop.pay", "--ends", "2099-01-31")

    assert refused("rules", "add", "x", *payments, "--because", "y")[0] == 2
    assert refused("rules", "add", "x", *TERMS, "--because", "y", "--as", "mara")[0] == 1
    assert refused("rules", "show", 99)[0] == 1
