"""The frame of every page: what waits, whether the engine lives, and what a reader prefers."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from config.environment import ROOT
from monitors.queries.pages_monitor import RANGES
from runs.models import Tick, Worker
from runs.queries.clock import db_now
from runs.web.shell import PLACES
from tests.architecture.sources import templates
from tests.dashboard.builders import a_person, start, work

KEY = re.compile(r'\b(?:data-)?key="([^"{]+)"')
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_screen_without_workers_never_looks_healthy(looking: Client) -> None:
    assert "no worker ever seen" in looking.get("/").text

    work()
    Worker.objects.update(renewed_at=db_now() - timedelta(minutes=3))

    assert "Nothing is being executed: no worker for 3 m" in looking.get("/").text


def test_a_watch_that_stopped_is_said_on_every_page(looking: Client) -> None:
    work()
    Worker.objects.update(state="live", renewed_at=db_now())
    assert "Nobody watches" in looking.get("/").text

    Tick.objects.create(duty="clockwork", holder="tests", at=db_now())

    assert "Nobody watches" not in looking.get("/").text


def test_the_first_page_lists_what_needs_somebody_with_the_deadline_first(client: Client) -> None:
    client.force_login(a_person("omar", "operate", "decide"))
    start("inbox_triage", reference="no inbox", inbox="/no/such/inbox.tsv")
    start("example_ask", question="Shall it go on?")
    work()

    page = client.get("/")

    assert "Shall it go on?" in page.text
    assert "no inbox failed in step prepare" in page.text
    assert '<span class="count">2</span>' in page.text


def test_what_somebody_may_not_do_is_shown_to_them_and_not_counted(looking: Client) -> None:
    start("example_ask", question="Shall it go on?")
    work()

    page = looking.get("/")

    assert "Nothing here is yours to do." in page.text
    assert "Shall it go on?" in page.text
    assert '<span class="count">' not in page.text


def test_nothing_to_do_is_said_quietly(looking: Client) -> None:
    page = looking.get("/").text

    assert "Nothing needs you." in page
    assert "Run the demo" in page


def test_whoever_has_runs_is_shown_no_first_steps(looking: Client) -> None:
    start("example_log")

    assert "Run the demo" not in looking.get("/").text


def test_preferences_are_kept_in_cookies_and_lead_back(looking: Client) -> None:
    answer = looking.post(
        reverse("runs:preferences"), {"theme": "dark", "time": "local", "next": "/runs/"}
    )
    looking.cookies["zone"] = "Europe%2FBerlin"
    page = looking.get("/runs/")

    assert answer.headers["Location"] == "/runs/"
    assert 'data-theme="dark"' in page.text
    assert "Times in Europe/Berlin" in page.text


def test_what_the_script_says_it_has_set_is_not_set_behind_its_next_choice(looking: Client) -> None:
    answer = looking.post(reverse("runs:preferences") + "?kept", {"theme": "light"})

    assert (answer.status_code, dict(answer.cookies)) == (204, {})


def test_every_key_that_a_page_names_is_bound_by_the_script() -> None:
    script = (ROOT / "static" / "js" / "keys.js").read_text(encoding="utf-8")
    single, behind_g = re.findall(r'for \(const key of "(\S+)"\) bind\(', script)
    named = {key for each in templates() for key in KEY.findall(each.read_text(encoding="utf-8"))}
    named |= {each.key for each in RANGES.values()} | {place.key for place in PLACES}

    assert named - {*single, *(f"g {key}" for key in behind_g)} == set()
    assert len(named) > 10


@pytest.mark.parametrize("elsewhere", ["https://example.org/", "//example.org", "javascript:x"])
def test_preferences_never_lead_outside_the_site(looking: Client, elsewhere: str) -> None:
    answer = looking.post(reverse("runs:preferences"), {"theme": "dark", "next": elsewhere})

    assert answer.headers["Location"] == "/"


def test_a_made_up_preference_changes_nothing(looking: Client) -> None:
    looking.post(reverse("runs:preferences"), {"theme": '"><script>', "keys": "maybe"})

    assert "theme" not in looking.cookies
    assert '<html lang="en">' in looking.get("/").text
