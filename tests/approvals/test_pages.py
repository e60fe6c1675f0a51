"""What the pages of decisions show, and to whom; looking changes nothing."""

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from approvals.ledger import striking
from approvals.models import Decision, Strike, Vote
from runs.models import AuditEvent, Run
from tests.approvals.builders import (
    COMMENT,
    a_decision,
    a_person,
    acting,
    again,
    cancel,
    decide,
)
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)
HTMX = {"HX-Request": "true"}


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def at(decision: Decision, more: str = "") -> str:
    return f"/decisions/{decision.pk}/{more}"


def filled(decision: Decision, option: str = "approve", **more: Any) -> dict[str, Any]:
    """What a browser sends when somebody has filled in the form."""
    now = again(decision)
    shown = {"option": option, "comment": COMMENT, "confirm": str(decision.run_id)[-6:]}
    return shown | {"shown_digest": now.digest, "seen": now.seq} | more


def text_of(response: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", response.content.decode()))


def test_the_list_has_mine_and_those_of_other_groups_apart() -> None:
    mara = signed_in(a_person("mara"))
    mine, others = a_decision(), a_decision("question", group="bankers")

    page = mara.get("/decisions/")

    yours, rest = page.content.decode().split('id="others"')
    assert at(mine) in yours
    assert at(others) not in yours
    assert at(others) in rest


def test_an_administrator_finds_everything_in_one_list_and_nothing_twice() -> None:
    root = signed_in(User.objects.create_superuser("root"))
    decision = a_decision()

    page = root.get("/decisions/").content.decode()

    assert page.count(f'id="decision-{decision.pk}"') == 1
    assert 'id="others"' not in page


def test_the_list_shows_what_was_decided_lately() -> None:
    person = a_person()
    decision = a_decision()
    decide(acting(person), decision)

    page = text_of(signed_in(person).get("/decisions/"))

    assert "Closed in the last 7 days" in page
    assert "approved by mara" in page


def test_an_empty_list_says_how_one_is_told() -> None:
    page = text_of(signed_in(a_person()).get("/decisions/"))

    assert "No decisions wait for you." in page


def test_a_long_list_is_turned_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("approvals.queries.inbox.PAGE", 2)
    mara = signed_in(a_person())
    decisions = [a_decision("question") for _ in range(3)]

    first = mara.get("/decisions/").content.decode()
    older = re.search(r'href="(\?yours=[^"]+)"', first)
    assert older
    second = mara.get("/decisions/" + older[1].replace("&amp;", "&")).content.decode()

    shown = [[at(one) in page for one in decisions] for page in (first, second)]
    assert shown == [[True, True, False], [False, False, True]]


def test_the_list_answers_204_until_something_has_happened() -> None:
    mara = signed_in(a_person())
    a_decision("question")
    first = mara.get("/decisions/").content.decode()
    version = re.search(r"/decisions/[^\"]*v=([\d-]+)", first)
    assert version
    same = f"/decisions/?v={version[1]}"

    before = mara.get(same, headers=HTMX)
    a_decision("question")
    after = mara.get(same, headers=HTMX)

    assert (before.status_code, after.status_code) == (204, 200)
    assert after.content.decode().lstrip().startswith('<div id="decisions"')


def test_the_page_shows_all_in_the_order_in_which_it_is_weighed() -> None:
    page = text_of(signed_in(a_person()).get(at(a_decision())))

    parts = (
        "May step settle make 3 calls of shop.pay?",
        "What happened",
        "What will be sent",
        "Effect so far",
        "If you choose",
        "An approval binds 3 of 3 calls",
        "Record decision",
    )
    places = [page.index(part) for part in parts]
    assert places == sorted(places)


def test_the_evidence_of_every_call_stands_in_columns_of_its_own() -> None:
    page = signed_in(a_person()).get(at(a_decision(text="You owe us"))).content.decode()

    for heading in ("from", "score", "text"):
        assert f">{heading}</th>" in page
    assert "shop 2" in page
    assert "You owe us" in page


def test_nothing_is_preselected_and_the_digest_stands_there_whole() -> None:
    decision = a_decision()

    page = signed_in(a_person()).get(at(decision)).content.decode()

    assert "checked" not in page
    assert f">{decision.digest}</code>" in page


def test_an_approval_is_recorded_and_the_next_decision_is_offered() -> None:
    mara = signed_in(a_person())
    decision, other = a_decision(), a_decision("question")

    response = mara.post(at(decision, "answers/"), filled(decision), follow=True)

    assert response.redirect_chain == [(at(decision), 302)]
    assert "Recorded: approved. The run goes on." in text_of(response)
    assert f'href="{at(other)}">Next decision' in response.content.decode()
    vote = Vote.objects.get()
    assert (vote.by, vote.door, vote.address) == ("mara", "page", "127.0.0.1")


@pytest.mark.parametrize(
    ("left_out", "said"),
    [
        ({"option": ""}, "Choose one. Nothing is chosen for you."),
        ({"comment": " "}, "needs a comment"),
        ({"confirm": "abc"}, "Type the last 6 characters of the run"),
    ],
)
def test_what_is_missing_is_said_and_what_was_typed_is_kept(
    left_out: dict[str, str], said: str
) -> None:
    decision = a_decision()

    response = signed_in(a_person()).post(
        at(decision, "answers/"), {**filled(decision, comment="Looked at."), **left_out}
    )

    assert response.status_code == 422
    assert said in text_of(response)
    assert "Nothing was recorded." in text_of(response)
    assert "comment" in left_out or "Looked at." in text_of(response)
    assert again(decision).state == "open"


def test_the_run_may_be_confirmed_by_its_reference_too() -> None:
    decision = a_decision()
    Run.objects.filter(pk=decision.run_id).update(reference="order-8812")

    response = signed_in(a_person()).post(
        at(decision, "answers/"), filled(decision, confirm="r-8812")
    )

    assert response.status_code == 302


def test_a_form_is_filled_in_on_the_page() -> None:
    mara = signed_in(a_person())
    decision = a_decision("question")
    wrong = filled(decision, "pay_back", **{"field-amount": "a lot", "field-currency": "EUR"})

    refused = mara.post(at(decision, "answers/"), wrong)
    taken = mara.post(at(decision, "answers/"), {**wrong, "field-amount": "1200"})
    runs.drain()

    assert refused.status_code == 422
    assert "Must be a whole number." in text_of(refused)
    assert taken.status_code == 302
    assert runs.facts_of(decision.run_id)["answer"]["fields"]["amount"] == 1200


def test_the_receivers_id_is_asked_for_beside_its_own_option() -> None:
    mara = signed_in(a_person())
    decision = a_decision("wire")

    page = mara.get(at(decision)).content.decode()
    taken = mara.post(
        at(decision, "answers/"),
        filled(decision, "happened", **{"field-happened-receiver_id": "ch_55"}),
    )

    assert 'name="field-happened-receiver_id"' in page
    assert taken.status_code == 302
    assert json.loads(Vote.objects.get().fields) == {"receiver_id": "ch_55"}


def test_single_calls_are_struck_off_and_put_back_without_a_script() -> None:
    mara = signed_in(a_person())
    decision = a_decision()

    struck = mara.post(at(decision, "strikes/"), {"strike": "2", "seen": "1"}, follow=True)
    put_back = mara.post(at(decision, "strikes/"), {"restore": "2", "seen": "2"}, follow=True)

    assert struck.redirect_chain == [(at(decision) + "?#call-2", 302)]
    assert "An approval binds 2 of 3 calls, 1 struck off" in text_of(struck)
    assert "An approval binds 3 of 3 calls, none struck off" in text_of(put_back)
    assert again(decision).digest == decision.digest


def test_with_scripts_only_the_list_the_count_and_the_digest_are_replaced() -> None:
    mara = signed_in(a_person())
    decision = a_decision()

    response = mara.post(
        at(decision, "strikes/"), {"strike": "2", "seen": "1", "here": "?q="}, headers=HTMX
    )

    part = response.content.decode()
    assert part.lstrip().startswith("<section")
    assert "Put back" in part
    assert again(decision).digest in part
    assert "<textarea" not in part


def test_all_that_match_a_text_are_struck_off_together() -> None:
    mara = signed_in(a_person())
    decision = a_decision(count=12)

    mara.post(at(decision, "strikes/"), {"strike": "matching", "q": "shop 1", "seen": "1"})

    struck = Strike.objects.filter(struck=True).order_by("ordinal")
    assert list(struck.values_list("ordinal", flat=True)) == [1, 10, 11, 12]


@pytest.mark.parametrize("named", [{"strike": "99"}, {"strike": "x"}, {}, {"strike": "matching"}])
def test_a_strike_that_names_no_call_is_refused(named: dict[str, str]) -> None:
    decision = a_decision()

    response = signed_in(a_person()).post(at(decision, "strikes/"), {**named, "seen": "1"})

    assert response.status_code == 400
    assert not Strike.objects.exists()


def test_an_approval_of_what_somebody_else_has_changed_shows_the_difference() -> None:
    mara, ben = a_person("mara"), a_person("ben")
    decision = a_decision()
    read = filled(decision)
    striking.strike(acting(ben), decision.pk, ordinals=[3], struck=True)

    response = signed_in(mara).post(at(decision, "answers/"), read)

    said = text_of(response)
    assert response.status_code == 409
    assert "Call 3 was struck off by ben" in said
    assert decision.digest in said
    assert again(decision).digest in said
    assert COMMENT in said
    assert again(decision).state == "open"


def test_a_strike_on_a_list_that_has_changed_is_refused_too() -> None:
    mara, ben = a_person("mara"), a_person("ben")
    decision = a_decision()
    striking.strike(acting(ben), decision.pk, ordinals=[3], struck=True)

    response = signed_in(mara).post(at(decision, "strikes/"), {"strike": "1", "seen": "1"})

    assert response.status_code == 409


def test_the_second_is_told_who_was_first() -> None:
    mara, ben = a_person("mara"), a_person("ben")
    decision = a_decision()
    read = filled(decision)
    decide(acting(ben), decision)

    response = signed_in(mara).post(at(decision, "answers/"), {**read, "option": ""})

    assert response.status_code == 409
    assert re.search(r"Already approved by ben at \d{4}-\d\d-\d\d", text_of(response))
    assert COMMENT in text_of(response)


def test_an_answer_that_comes_too_late_is_410() -> None:
    decision = a_decision()
    read = filled(decision)
    runs.let_it_be_due(decision.run_id)

    response = signed_in(a_person()).post(at(decision, "answers/"), read)

    assert response.status_code == 410
    assert "Already expired by the clock" in text_of(response)


def test_a_withdrawn_decision_says_why_and_takes_no_answer() -> None:
    mara = signed_in(a_person())
    decision = a_decision()
    read = filled(decision)
    cancel(decision)

    page, answer = mara.get(at(decision)), mara.post(at(decision, "answers/"), read)

    assert "Withdrawn by tests" in text_of(page) or "Withdrawn" in text_of(page)
    assert "Not wanted any more." in text_of(page)
    assert "Record decision" not in text_of(page)
    assert answer.status_code == 409


def test_the_record_stays_readable_with_who_what_and_the_comment() -> None:
    person = a_person()
    decision = a_decision()
    striking.strike(acting(person), decision.pk, ordinals=[1], struck=True)
    decide(acting(person), decision)

    page = text_of(signed_in(person).get(at(decision)))

    for part in (
        COMMENT,
        "mara, alone: nobody else",
        "2 of 3, 1 struck off",
        again(decision).approved_digest,
    ):
        assert part in page


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


def test_what_would_turn_the_text_around_is_shown_by_name() -> None:
    mara = signed_in(a_person())

    listed = mara.get(at(a_decision("anybody"))).content.decode()
    alone = mara.get(at(a_decision("one_call"))).content.decode()

    for page in (listed, alone):
        assert "\u202e" not in page.replace("&#x202e;", "\u202e")
        assert ">U+202E</span>" in page


def test_a_list_is_paged_filtered_and_downloaded_whole() -> None:
    mara = signed_in(a_person())
    decision = a_decision(count=130)

    first = mara.get(at(decision)).content.decode()
    later = re.search(r'href="(\?at=[^"]+)"', first)
    assert later
    second = mara.get(at(decision) + later[1]).content.decode()
    found = mara.get(at(decision, "?q=invoice-129")).content.decode()
    lines = b"".join(mara.get(f"/decisions/{decision.pk}/calls.jsonl")).decode().splitlines()
    table = b"".join(mara.get(f"/decisions/{decision.pk}/calls.csv")).decode().splitlines()

    assert (first.count("data-row"), second.count("data-row")) == (100, 30)
    assert found.count("data-row") == 1
    assert [json.loads(line)["resource"] for line in lines] == [
        f"invoice-{n}" for n in range(1, 131)
    ]
    assert len(table) == 131
    assert table[0] == "ordinal,effect,resource,request,digest,struck,from,score,text"


def test_a_spreadsheet_takes_no_strangers_text_for_a_formula() -> None:
    mara = signed_in(a_person())
    decision = a_decision(count=1, text="=HYPERLINK(1)")

    table = b"".join(mara.get(f"/decisions/{decision.pk}/calls.csv")).decode()

    assert ",'=HYPERLINK(1)" in table


def test_one_call_is_shown_with_all_its_bytes() -> None:
    page = text_of(signed_in(a_person()).get(at(a_decision(), "calls/2/")))

    assert "&quot;amount&quot;: 200" in page
    assert "2 of 3" in page


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


def test_the_status_line_refreshes_and_the_form_never_does() -> None:
    person = a_person()
    mara = signed_in(person)
    decision = a_decision()
    same = at(decision, "status/?seen=1&v=1")

    quiet = mara.get(same, headers=HTMX)
    striking.strike(acting(person), decision.pk, ordinals=[1], struck=True)
    changed = mara.get(same, headers=HTMX)
    decide(acting(person), decision)
    closed = mara.get(same, headers=HTMX)

    assert quiet.status_code == 204
    assert "It changed since you opened this page." in text_of(changed)
    assert "Approved by mara" in text_of(closed)
    for answer in (changed, closed):
        assert "<form" not in answer.content.decode()


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


def test_pages_cost_the_same_however_long_the_list(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    mara = signed_in(a_person())
    decision = a_decision(count=120)
    for _ in range(5):
        a_decision("question")
    mara.get("/decisions/")

    with django_assert_max_num_queries(20):
        mara.get("/decisions/")
    with django_assert_max_num_queries(32):
        mara.get(at(decision))
    with django_assert_max_num_queries(10):
        mara.get(at(decision, "status/?seen=1&v=1"), headers=HTMX)
