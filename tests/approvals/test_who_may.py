"""Who may look, who may answer, and what each is told."""

from typing import Any

import pytest
from django.test import Client

from approvals.models import Decision, Strike, Vote
from runs.models import AuditEvent, Run
from tests.approvals.builders import (
    a_decision,
    a_person,
    again,
)
from tests.approvals.reading import at, filled, signed_in, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_another_tenants_decision_does_not_exist() -> None:
    mara = signed_in(a_person("mara"))
    decision = a_decision(tenant="elsewhere")

    answers = [
        mara.get(at(decision)).status_code,
        mara.get(at(decision, "status/")).status_code,
        mara.get(at(decision, "calls/1/")).status_code,
        mara.get(f"/decisions/{decision.pk}/calls.csv").status_code,
        mara.get(f"/decisions/of/{decision.wait_id}/").status_code,
        mara.post(at(decision, "answers/"), filled(decision)).status_code,
        mara.post(at(decision, "strikes/"), {"strike": "1", "seen": "1"}).status_code,
    ]

    assert answers == [404] * 7
    assert at(decision) not in mara.get("/decisions/").content.decode()


def test_another_groups_decision_is_readable_and_says_who_may() -> None:
    olga = signed_in(a_person("olga", groups=["bankers"]))
    decision = a_decision()

    page = olga.get(at(decision))
    answer = olga.post(at(decision, "answers/"), filled(decision))
    strike = olga.post(at(decision, "strikes/"), {"strike": "1", "seen": "1"})

    assert "People in “approvers” with the permission “decide” may answer" in text_of(page)
    assert "Record decision" not in text_of(page)
    assert "Strike off" not in text_of(page)
    assert (answer.status_code, strike.status_code) == (403, 403)
    assert again(decision).state == "open"


def test_whoever_lacks_the_permission_reads_which_one() -> None:
    vera = signed_in(a_person("vera", permissions=["view_payloads"]))
    decision = a_decision()

    page = vera.get(at(decision))

    assert "vera lacks the permission “decide”" in text_of(page)
    assert vera.post(at(decision, "answers/"), filled(decision)).status_code == 403


def test_payloads_are_hidden_and_what_nobody_sees_whole_cannot_be_approved() -> None:
    paul = signed_in(a_person("paul", permissions=["decide"]))
    decision = a_decision(text="You owe us")

    page = paul.get(at(decision))
    call = paul.get(at(decision, "calls/1/"))
    search = paul.get(at(decision, "?q=owe"))
    file = paul.get(f"/decisions/{decision.pk}/calls.jsonl")
    yes = paul.post(at(decision, "answers/"), filled(decision))
    no = paul.post(at(decision, "answers/"), filled(decision, "reject"))

    for shown in (page, call, search):
        assert "You owe us" not in shown.content.decode()
    assert "nobody agrees to what they may not see whole" in text_of(page)
    assert "Request hidden" in text_of(call)
    assert "No call names" in text_of(search)
    assert (file.status_code, yes.status_code, no.status_code) == (403, 403, 302)


def test_looking_changes_nothing() -> None:
    mara = signed_in(a_person())
    decision = a_decision()
    mara.get("/decisions/")
    before = _everything()

    for way in (mara.get, mara.head):
        for place in ("", "status/", "calls/1/", "?q=shop"):
            assert way(at(decision, place)).status_code == 200
        for file in ("calls.csv", "calls.jsonl"):
            b"".join(way(f"/decisions/{decision.pk}/{file}"))
        assert way(f"/decisions/of/{decision.wait_id}/").status_code == 302
        assert way(at(decision, "answers/")).status_code == 405
        assert way(at(decision, "strikes/")).status_code == 405

    assert _everything() == before


def _everything() -> list[Any]:
    tables = (Decision, Strike, Vote, Run, AuditEvent)
    return [list(table.objects.order_by("pk").values()) for table in tables]


def test_a_forged_post_without_a_token_is_refused() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(a_person())
    decision = a_decision()

    assert client.post(at(decision, "answers/"), filled(decision)).status_code == 403
    assert again(decision).state == "open"


def test_strangers_are_asked_to_sign_in() -> None:
    response = Client().get(at(a_decision()))

    assert response.status_code == 302
    assert response.headers["Location"].startswith("/signin/")
