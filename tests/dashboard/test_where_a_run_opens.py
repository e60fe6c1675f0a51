"""Where a run's page opens: at what failed, behind what is placed before it, with its code gone."""

from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse

from runs.models import Run
from runs.queries.went_on import WentOn
from runs.rules.stretches import stretch_of
from tests.dashboard.builders import many_runs, start, work
from tests.dashboard.test_run_page import page_of
from tests.operating import releases
from tests.operating.releases import begun, release, writing
from tests.support import runs

working = pytest.mark.django_db(transaction=True)
LONG = [writing(f"s{number:03}", f"f{number:03}") for number in range(1, 231)]


def a_long_run_that_failed_at(key: str) -> UUID:
    run_id = start(releases.NAME)
    Run.objects.filter(pk=run_id).update(
        state="failed", step=key, step_ordinal=int(key[1:]), reason="no more space"
    )
    return run_id


@working
def test_a_failed_run_opens_at_the_step_that_failed(looking: Client) -> None:
    run = start("inbox_triage", inbox="/no/such/inbox.tsv")
    work()
    failed = Run.objects.get(pk=run).step

    page = page_of(looking, run).text

    assert f'<li id="line-{failed}" aria-current="step">' in page
    assert page.count('aria-current="step"') == 1
    assert f'href="#line-{failed}"' in page
    assert page.index('class="banner state-failed"') < page.index(f'id="line-{failed}"')


@pytest.mark.parametrize(
    ("around", "asked", "shown", "earlier", "later"),
    [
        (130, None, (101, 200), 1, 201),
        (100, None, (1, 100), 0, 101),
        (230, None, (201, 230), 101, 0),
        (130, 1, (1, 100), 0, 101),
        (130, 9_999, (201, 230), 101, 0),
        (0, None, (1, 100), 0, 101),
    ],
)
def test_a_long_plan_is_shown_by_the_hundred(
    around: int, asked: int | None, shown: tuple[int, int], earlier: int, later: int
) -> None:
    stretch = stretch_of(230, around=around, asked=asked)

    assert (stretch.first, stretch.last) == shown
    assert (stretch.earlier, stretch.later) == (earlier, later)


def test_a_plan_of_two_hundred_steps_is_shown_whole() -> None:
    assert stretch_of(200, around=150).is_whole


@pytest.mark.django_db
def test_a_long_failed_run_opens_at_the_hundred_that_holds_its_failure(looking: Client) -> None:
    with release((1, LONG)):
        run = a_long_run_that_failed_at("s130")
        page = page_of(looking, run).text
        first = page_of(looking, run, steps="1").text

    assert "steps 101 to 200 of 230" in page
    assert 'id="line-s130"' in page
    assert 'id="line-s001"' not in page
    assert 'id="line-s001"' in first
    assert "s130" in first.split('class="timeline"')[0], "the way back to the failure"
    assert 'href="?#line-s130"' in first


@working
def test_a_queued_run_says_which_slots_are_free_and_who_is_ahead(looking: Client) -> None:
    start("example_log", reference="before it")
    run = start("example_log")
    alone = page_of(looking, run).text

    with runs.a_worker():
        page = page_of(looking, run).text

    assert "Queued: no slot, because no worker is alive; 1 ahead." in alone
    assert "Queued: 1 of 1 slot free, 1 ahead." in page
    assert "1 ahead of it" in page


@working
def test_a_run_whose_code_is_gone_is_read_from_what_was_recorded(looking: Client) -> None:
    with release((1, [writing("weigh", "weight"), writing("pack", "box")])):
        run = begun(until="pack")

    texts = [page_of(looking, run, tab=tab).text for tab in ("steps", "events", "audit")]
    step = looking.get(reverse("runs:step_show", args=[run, "weigh"]))

    assert all(f"The code of {releases.NAME} version 1 is not here" in text for text in texts)
    assert 'id="line-weigh"' in texts[0]
    assert "Executed once" in step.text


@pytest.mark.django_db
def test_every_time_a_run_went_on_is_told(looking: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    (run,) = many_runs(1)
    lines = [
        WentOn(
            at=run.created_at,
            trigger="takeover",
            reason=f"the worker of fence {fence} is gone",
            step="count",
            worker="here/1",
            fence=fence,
            lost=True,
            checkpoint=0,
            cursor=0,
            kept_steps=0,
            kept_keys=0,
        )
        for fence in range(2, 9)
    ]
    monkeypatch.setattr("runs.queries.pages_run.went_on", lambda *_: lines)

    page = page_of(looking, run.pk).text

    assert all(f"the worker of fence {fence} is gone" in page for fence in range(2, 9))
    assert "It went on 2 times before" in page
