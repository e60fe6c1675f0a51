"""`workflows certify`: ten questions, their answers, and the number it ends with."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User

from runs.definition import registry
from runs.ledger import drills
from runs.models import AuditEvent, Certificate, Tenant
from runs.queries.verify import violations
from runs.rules.plan import plan_of
from tests.commands.saying import Said, manage
from tests.definition.certified import a_drill
from tests.operating import releases
from tests.operating.releases import begun, posting, release, writing
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


def certify(*words: str) -> Said:
    return manage("workflows", "certify", "count", *words)


def answers(said: Said) -> dict[str, str]:
    return {one["id"]: one["answer"] for one in said.json["questions"]}


@pytest.fixture
def _drilled() -> None:
    report = a_drill(plan_of(registry.latest("count")))
    drills.keep(runs.the_operator(), report)


def test_what_is_unknown_is_not_green() -> None:
    said = certify("--json")

    assert said.code == 1
    assert len(said.json["questions"]) == 10
    assert answers(said)["steps"] == "unknown"
    assert "of 10 pass; not: steps (unknown)" in said.err


def test_json_names_plan_time_questions_and_evidence() -> None:
    plan = plan_of(registry.latest("count"))

    told = certify("--json").json

    assert (told["name"], told["version"], told["plan_hash"]) == ("count", plan.version, plan.hash)
    assert (told["valid"], told["made_at"][:4].isdigit()) == (True, True)
    first: dict[str, Any] = told["questions"][0]
    assert set(first) == {"id", "question", "answer", "evidence"}
    assert first["evidence"][0]["about"] == "step:count"


@pytest.mark.usefixtures("_drilled")
def test_the_last_drill_of_this_plan_is_taken_for_evidence() -> None:
    said = certify("--json")

    assert answers(said) | {"heartbeat": "", "policies": ""} == {
        **dict.fromkeys(answers(said), "pass"),
        "heartbeat": "",
        "policies": "",
        "audit": "pass",
    }
    assert any("drill:" in str(one["evidence"]) for one in said.json["questions"])


def test_runs_of_the_plan_are_verified() -> None:
    runs.a_run("count")
    runs.drain()

    said = certify("--json")

    assert answers(said)["audit"] == "pass"
    assert "Of the last 1 run, chains" in str(said.json["questions"][-1]["evidence"])


def test_open_runs_that_this_code_would_strand_fail_the_version() -> None:
    with release((1, [writing("weigh", "weight"), posting("post"), writing("bill", "sum")])):
        begun(until="bill")

    with release((2, [posting("post"), writing("weigh", "weight"), writing("bill", "sum")])):
        said = manage("workflows", "certify", releases.NAME, "--json")

    assert answers(said)["version"] == "fail"
    assert "take 1 open run along only if a person says how" in said.out


def test_people_read_each_answer_with_what_speaks_for_it() -> None:
    said = certify()

    assert " 1. unknown  Does each step say what it reads, writes and calls?" in said.out
    assert "      pass     count reads upto, writes counted, calls nothing." in said.out
    assert "run `manage.py drill count`" in said.out


def test_each_one_is_kept_and_told_to_the_audit() -> None:
    certify()
    certify("--as", _somebody("omar", "operate"))

    kept = list(Certificate.objects.order_by("id").values_list("made_by", "workflow", "asked"))
    assert [one[1:] for one in kept] == [("count", 10)] * 2
    assert kept[1][0] == "omar"
    assert AuditEvent.objects.filter(kind="certificate.made", run=None).count() == 2
    assert list(violations()) == []


def test_who_may_not_operate_certifies_nothing() -> None:
    said = certify("--as", _somebody("mara"))

    assert (said.code, "operate" in said.err) == (1, True)
    assert not Certificate.objects.exists()


def test_a_tenant_of_others_does_not_exist() -> None:
    Tenant.objects.get_or_create(slug="other")

    said = certify("--tenant", "other", "--as", _somebody("omar", "operate"))

    assert (said.code, "no tenant 'other'" in said.err) == (1, True)


def test_an_unknown_workflow_is_1_and_an_unknown_user_is_2() -> None:
    unknown = manage("workflows", "certify", "nothing")

    assert (unknown.code, "is registered here" in unknown.err) == (1, True)
    assert certify("--version", "9").code == 1
    assert certify("--as", "nobody").code == 2


def _somebody(name: str, *permissions: str) -> str:
    person = User.objects.create_user(name)
    person.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return name
