"""The pages in a real browser: live without moving what is read, by keyboard, on a phone, without scripts."""

from typing import TYPE_CHECKING, Literal
from uuid import UUID

import pytest
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore

from runs.models import Run
from tests.dashboard.builders import a_person, many_runs, start, work
from tests.support.chromium import BROWSER_PATIENCE
from tests.support.programs import Program, Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = [pytest.mark.browser, pytest.mark.processes]
NARROWEST = 320
SMALLEST_TARGET = 24
# The second key of a pair may come a minute behind the first: the page may stand still meanwhile.
UNHURRIED_PAIRS = """
    const after = window.setTimeout;
    window.setTimeout = (what, most, ...more) => after(what, most === 1000 ? 60000 : most, ...more);
"""


@pytest.fixture
def web(site: Site) -> Program:
    return site.start_web()


def signed_in(context: "BrowserContext", web: Program, *more: str) -> None:
    person = a_person("omar", "operate", "view_payloads", *more)
    session = SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.save()
    context.add_cookies([{"name": "sessionid", "value": str(session.session_key), "url": web.url}])


@pytest.fixture
def reader(page: "Page", web: Program) -> "Page":
    signed_in(page.context, web)
    return page


def parked_run() -> UUID:
    run = start("example_ask", reference="order-8812")
    work()
    return run


def test_a_poll_moves_nothing_that_is_being_read(
    web: Program, reader: "Page", complaints: list[str]
) -> None:
    waiting = start("example_log", reference="seen")
    many_runs(49)
    reader.goto(f"{web.url}/runs/")
    reader.get_by_label("Reference, run id or key").fill("half typed")
    row = reader.locator(f"#run-{waiting} a.row-link")
    row.focus()
    reader.keyboard.press("x")
    reader.evaluate("scrollTo(0, 600)")
    work()
    start("example_log", reference="unseen")

    reader.get_by_text("1 new run").wait_for()

    assert "succeeded" in reader.locator(f"#run-{waiting}").inner_text()
    assert reader.evaluate("document.activeElement.textContent") == "seen"
    assert reader.evaluate("scrollY") == 600
    assert reader.get_by_label("Reference, run id or key").input_value() == "half typed"
    assert reader.locator("tbody tr").count() == 50
    assert [one.is_checked() for one in reader.locator("[name=run]").all()].count(True) == 1
    assert reader.locator(f"#run-{waiting} [name=run]").is_checked()
    assert not complaints


def test_what_is_unfolded_stays_so_while_the_run_goes_on(
    web: Program, reader: "Page", complaints: list[str]
) -> None:
    run = start("example_log")
    reader.goto(f"{web.url}/runs/{run}/?tab=events")
    reader.locator("#said-1 summary").click()
    work()

    reader.locator("#event-3").wait_for()

    assert reader.locator("#said-1").evaluate("one => one.open")
    assert not complaints


def test_a_step_opens_beside_its_run_under_its_own_address(
    web: Program, reader: "Page", complaints: list[str]
) -> None:
    run = parked_run()
    reader.goto(f"{web.url}/runs/{run}/")
    reader.locator("#line-ask a").click()
    reader.locator("#drawer").get_by_role("heading", name="Attempts").wait_for()
    beside = reader.url
    reader.keyboard.press("Escape")
    reader.wait_for_url(f"{web.url}/runs/{run}/")

    assert beside == f"{web.url}/runs/{run}/steps/ask/"
    reader.locator("#drawer").wait_for(state="hidden")
    reader.goto(beside)
    reader.get_by_role("heading", name="Attempts").wait_for()
    assert not complaints


def test_everything_is_reached_by_keys(web: Program, reader: "Page") -> None:
    run = parked_run()
    reader.add_init_script(UNHURRIED_PAIRS)
    reader.goto(web.url)
    reader.keyboard.type("gr")
    reader.get_by_role("heading", name="Runs", exact=True).wait_for()
    reader.wait_for_load_state()
    reader.keyboard.press("j")
    reader.keyboard.press("Enter")
    reader.wait_for_url(f"**/runs/{run}/")
    reader.keyboard.press("t")
    theme = reader.evaluate("document.documentElement.dataset.theme")
    reader.keyboard.press("?")

    assert theme == "light"
    reader.get_by_text("No key approves, resumes, cancels or deletes anything.").wait_for()


def test_a_theme_that_was_chosen_is_there_from_the_first_byte(web: Program, reader: "Page") -> None:
    reader.goto(web.url)
    reader.keyboard.press("t")
    reader.keyboard.press("t")

    answer = reader.goto(web.url)

    assert answer is not None
    assert 'data-theme="dark"' in answer.text()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_fits_the_narrowest_screen(
    web: Program, browser: "Browser", theme: Literal["light", "dark"]
) -> None:
    run = parked_run()
    failed = start("inbox_triage", inbox="/no/such/" + "very-long-name" * 12)
    work()
    context = browser.new_context(
        viewport={"width": NARROWEST, "height": 640}, color_scheme=theme, has_touch=True
    )
    context.set_default_timeout(BROWSER_PATIENCE)
    signed_in(context, web)
    narrow = context.new_page()
    tabs = ("steps", "events", "effects", "checkpoints", "waits", "files", "input", "audit")
    addresses = [
        "/", "/runs/", "/runs/?state=paused", "/workflows/", "/workflows/inbox_triage/",
        "/nothing/", f"/runs/{failed}/", f"/runs/{run}/steps/ask/",
        *(f"/runs/{run}/?tab={tab}" for tab in tabs),
    ]  # fmt: skip

    wrong = [(at, found) for at in addresses if (found := _misfits(narrow, web.url + at))]

    context.close()
    assert not wrong


def _misfits(page: "Page", url: str) -> list[str]:
    """What sticks out sideways, and what is too small for a finger."""
    page.goto(url)
    sideways = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    small = page.evaluate(
        """smallest => [...document.querySelectorAll("button, select, input, summary")]
             .filter(one => one.checkVisibility() && one.type !== "hidden")
             .map(one => [one, one.closest("label.check") || one])
             .filter(([, box]) => box.getBoundingClientRect().height < smallest)
             .map(([one]) => one.outerHTML.slice(0, 80))""",
        SMALLEST_TARGET,
    )
    return [*([f"{sideways} px too wide"] if sideways > 0 else []), *small]


def test_without_scripts_one_can_still_look_and_start(web: Program, browser: "Browser") -> None:
    run = parked_run()
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(BROWSER_PATIENCE)
    signed_in(context, web)
    plain = context.new_page()
    plain.goto(f"{web.url}/runs/?waits_for=decision")
    plain.get_by_role("link", name="order-8812").click()
    plain.locator("#line-ask a").click()
    plain.get_by_role("heading", name="Attempts").wait_for()
    plain.goto(f"{web.url}/workflows/example_log/")
    plain.get_by_label("Reference", exact=True).fill("by hand")
    plain.get_by_role("button", name="Start run").click()
    plain.get_by_role("heading", level=1, name="by hand").wait_for()
    context.close()

    assert Run.objects.exclude(pk=run).get().reference == "by hand"
