"""Lists of calls on the page: paged, filtered, downloaded, single ones struck off."""

import json
import re

import pytest

from approvals.ledger import striking
from approvals.ledger.grounds import GroundMoved
from approvals.models import Ground, Strike
from runs.rules import canonical
from tests.approvals.builders import (
    a_decision,
    a_person,
    acting,
    again,
    decide,
)
from tests.approvals.reading import HTMX, at, signed_in, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_evidence_of_every_call_stands_in_columns_of_its_own() -> None:
    page = signed_in(a_person()).get(at(a_decision(text="You owe us"))).content.decode()

    for heading in ("from", "score", "text"):
        assert f">{heading}</th>" in page
    assert "shop 2" in page
    assert "You owe us" in page


def test_single_calls_are_struck_off_and_put_back_without_a_script() -> None:
    mara = signed_in(a_person())
    decision = a_decision()

    struck = mara.post(at(decision, "strikes/"), {"strike": "2", "seen": "1"}, follow=True)
    put_back = mara.post(at(decision, "strikes/"), {"restore": "2", "seen": "2"}, follow=True)

    assert struck.redirect_chain == [(at(decision) + "?#call-2", 302)]
    assert "An approval binds 2 of 3 calls, 1 struck off" in text_of(struck)
    assert "An approval binds 3 of 3 calls, none struck off" in text_of(put_back)
    assert again(decision).digest == decision.digest


def test_what_was_struck_off_stays_off_where_the_question_is_asked_anew() -> None:
    mara, max_ = acting(a_person()), acting(a_person("max"))
    decision = a_decision()
    striking.strike(mara, decision.pk, ordinals=[1], struck=True)
    striking.strike(max_, decision.pk, ordinals=[3], struck=True)
    ground = Ground.objects.get(decision=decision)
    facts = canonical.loads(ground.facts) | {"its generation": 7}
    Ground.objects.filter(pk=ground.pk).update(facts=canonical.dumps(facts))

    with pytest.raises(GroundMoved) as moved:
        decide(mara, decision)

    new = moved.value.successor
    assert (again(new).count, again(new).digest) == (1, again(decision).digest)
    assert {(one.ordinal, one.by) for one in new.strikes.all()} == {(1, "mara"), (3, "max")}
    assert decide(mara, new).state == "approved"


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


def test_a_strike_on_a_list_that_has_changed_is_refused_too() -> None:
    mara, ben = a_person("mara"), a_person("ben")
    decision = a_decision()
    striking.strike(acting(ben), decision.pk, ordinals=[3], struck=True)

    response = signed_in(mara).post(at(decision, "strikes/"), {"strike": "1", "seen": "1"})

    assert response.status_code == 409


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


def test_searching_finds_what_the_page_shows_and_nothing_else() -> None:
    mara = signed_in(a_person())
    text = 'say "now"\n\u202eor password=correct-horse, ÄRGER \\ 50 %'
    decision = a_decision(count=2, text=text)

    def found(wanted: str) -> int:
        page = mara.get(at(decision), {"q": wanted}).content.decode()
        return page.count("data-row")

    shown = (
        'SAY "now"',
        "ärger \\ 50 %",
        "[redacted]",
        "u+202e",
        "invoice-2",
        "shop 1",
        '"to":"inv',
    )
    hidden = ("correct-horse", "password", "\\n", "50_%")

    assert [found(wanted) for wanted in shown] == [2, 2, 2, 2, 1, 1, 2]
    assert [found(wanted) for wanted in hidden] == [0] * len(hidden)
    said = {"strike": "matching", "q": "shop 2", "seen": "1"}
    assert mara.post(at(decision, "strikes/"), said).status_code == 302
    assert again(decision).count == 1


def test_a_spreadsheet_takes_no_strangers_text_for_a_formula() -> None:
    mara = signed_in(a_person())
    decision = a_decision(count=1, text="=HYPERLINK(1)")

    table = b"".join(mara.get(f"/decisions/{decision.pk}/calls.csv")).decode()

    assert ",'=HYPERLINK(1)" in table


def test_one_call_is_shown_with_all_its_bytes() -> None:
    page = text_of(signed_in(a_person()).get(at(a_decision(), "calls/2/")))

    assert "&quot;amount&quot;: 200" in page
    assert "2 of 3" in page
