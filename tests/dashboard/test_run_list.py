"""The list of runs: what it shows, how it is filtered and paged, what it costs."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from runs.models import Run, Tenant, Wait
from runs.queries.clock import db_now
from runs.queries.pages_runs import Wanted, page_of, wanted_runs
from runs.rules.policy import local_operator
from tests.dashboard.builders import many_runs, start, work

pytestmark = pytest.mark.django_db(transaction=True)
PART = {"HX-Request": "true"}
LONGEST = Wanted(longest_waiting=True)


def references(answer: Any) -> list[str]:
    return re.findall(r'class="row-link"[^>]*>([^<]+)</a>', answer.text)


def link(answer: Any, words: str) -> str:
    found = re.search(rf'href="([^"]+)"[^>]*>(?:(?!</a>).)*{words}', answer.text, re.DOTALL)
    return found[1].replace("&amp;", "&") if found else ""


def rows_url(answer: Any) -> str:
    found = re.search(r'hx-get="([^"]+ids[^"]+)"', answer.text)
    assert found
    return found[1].replace("&amp;", "&")


def test_a_run_is_shown_with_its_state_and_why(looking: Client) -> None:
    start("example_ask", reference="order-8812")
    work()

    page = looking.get(reverse("runs:run_list"))

    assert references(page) == ["order-8812"]
    assert "waiting" in page.text
    assert "Waits for a decision: Shall it go on?" in page.text


def test_runs_of_the_last_seven_days_are_shown_unless_asked_for_all(looking: Client) -> None:
    many_runs(1, reference="new")
    Run.objects.filter(pk=many_runs(1, reference="old")[0].pk)
    many_runs(9, reference="aged", apart=timedelta(days=2))

    week = references(looking.get(reverse("runs:run_list")))
    everything = references(looking.get(reverse("runs:run_list"), {"started": "all"}))

    assert "aged 8" in everything
    assert "aged 8" not in week


def test_a_label_is_found_by_its_name_though_that_be_a_number(looking: Client) -> None:
    many_runs(1, reference="year", labels={"2024": "done", "team": "mail"})
    many_runs(1, reference="other", labels={"2024": "open", "20": "done"})

    found = [
        references(looking.get(reverse("runs:run_list"), {"q": asked}))
        for asked in ("2024=done", "20=done", "team=mail", "2_0=done")
    ]

    assert found == [["year 0"], ["other 0"], ["year 0"], []]


def test_a_filter_in_the_address_narrows_the_list(looking: Client) -> None:
    start("example_log", reference="one")
    start("example_artifact", reference="two")

    by_workflow = looking.get(reverse("runs:run_list"), {"workflow": "example_artifact"})
    by_state = looking.get(reverse("runs:run_list"), {"state": "failed"})
    by_name = looking.get(reverse("runs:run_list"), {"q": "on"})

    assert references(by_workflow) == ["two"]
    assert references(by_state) == []
    assert "No run fits this filter" in by_state.text
    assert references(by_name) == ["one"]


def test_a_filter_that_makes_no_sense_is_refused_and_the_list_stays(looking: Client) -> None:
    start("example_log", reference="one")

    page = looking.get(reverse("runs:run_list"), {"state": "exploded"})

    assert page.status_code == 422
    assert "exploded is not one of the available choices" in page.text
    assert references(page) == ["one"]


@pytest.mark.parametrize("apart", [timedelta(0), timedelta(seconds=1)])
def test_paging_down_and_up_again_shows_every_run_once(looking: Client, apart: timedelta) -> None:
    many_runs(120, apart=apart)

    first = looking.get(reverse("runs:run_list"))
    second = looking.get(reverse("runs:run_list") + link(first, "Older"))
    third = looking.get(reverse("runs:run_list") + link(second, "Older"))
    back = looking.get(reverse("runs:run_list") + link(third, "Newer"))

    seen = [*references(first), *references(second), *references(third)]
    assert len(seen) == len(set(seen)) == 120
    assert not link(third, "Older")
    assert references(back) == references(second)


def test_who_waits_longest_stands_first_whenever_it_began_and_is_paged_both_ways(
    looking: Client,
) -> None:
    waiting = [start("example_ask", reference=f"asks {number}") for number in range(3)]
    start("example_log", reference="does not wait")
    work()
    opened = Wait.objects.get(run=waiting[2]).opened_at
    Wait.objects.filter(run=waiting[2]).update(opened_at=opened - timedelta(days=20))
    Run.objects.filter(pk=waiting[2]).update(created_at=opened - timedelta(days=20))

    page = looking.get(reverse("runs:run_list"), {"sort": "waiting"})
    runs = wanted_runs(local_operator("tests"), LONGEST, now=db_now())
    first = page_of(runs, LONGEST, position=None, size=2)
    second = page_of(runs, LONGEST, position=first.older, size=2)
    back = page_of(runs, LONGEST, position=second.newer, size=2)

    assert references(page) == ["asks 2", "asks 0", "asks 1"]
    assert [run.reference for run in (*first.rows, *second.rows)] == references(page)
    assert (back.rows, back.newer, second.older) == (first.rows, None, None)
    assert re.search(r'aria-sort="descending">Why', page.text)
    assert not re.search(r'aria-sort="descending">Started', page.text)


def test_a_poll_of_who_waits_longest_announces_no_new_start(looking: Client) -> None:
    start("example_ask", reference="asks")
    work()
    url = rows_url(looking.get(reverse("runs:run_list"), {"sort": "waiting"}))
    start("example_ask", reference="asks too")
    work()

    assert "new run" not in looking.get(url, headers=PART).text


def test_a_forged_cursor_is_the_top_of_the_list(looking: Client) -> None:
    many_runs(3)

    page = looking.get(reverse("runs:run_list"), {"at": "eyJ2IjoxfQ:forged"})

    assert len(references(page)) == 3


def test_fifty_runs_cost_no_more_queries_than_five(
    looking: Client, django_assert_max_num_queries: Any
) -> None:
    for number in range(5):
        start("example_ask", reference=f"asks {number}")
    work()
    looking.get(reverse("runs:run_list"))
    many_runs(60)

    with django_assert_max_num_queries(22):
        page = looking.get(reverse("runs:run_list"))

    assert len(references(page)) == 50


def test_a_poll_that_finds_nothing_new_answers_204_with_few_queries(
    looking: Client, django_assert_max_num_queries: Any
) -> None:
    many_runs(50)
    url = rows_url(looking.get(reverse("runs:run_list")))

    with django_assert_max_num_queries(11):
        answer = looking.get(url, headers=PART)

    assert answer.status_code == 204


def test_a_poll_refreshes_the_rows_in_place_and_announces_new_runs(looking: Client) -> None:
    start("example_log", reference="seen")
    url = rows_url(looking.get(reverse("runs:run_list")))
    work()
    start("example_log", reference="unseen")

    answer = looking.get(url, headers=PART)

    assert references(answer) == ["seen"]
    assert "succeeded" in answer.text
    assert "1 new run" in answer.text


def test_a_run_that_no_longer_fits_the_filter_stays_where_it_is_read(looking: Client) -> None:
    start("example_log", reference="seen")
    url = rows_url(looking.get(reverse("runs:run_list"), {"state": "queued"}))
    work()

    answer = looking.get(url, headers=PART)

    assert references(answer) == ["seen"]


def test_runs_of_another_tenant_do_not_exist(looking: Client) -> None:
    Tenant.objects.get_or_create(slug="default")
    theirs = start("example_log", reference="theirs", tenant="elsewhere")

    page = looking.get(reverse("runs:run_list"))

    assert references(page) == []
    assert looking.get(reverse("runs:run_show", args=[theirs])).status_code == 404
    assert references(looking.get(reverse("runs:run_rows"), {"ids": theirs.hex})) == []


def test_an_empty_list_says_how_to_start_a_run(looking: Client) -> None:
    page = looking.get(reverse("runs:run_list"))

    assert "No run was started in the last 7 days" in page.text
    assert "manage.py runs start" in page.text
