"""A run is approved in a real browser: by keyboard, without scripts, on a phone, with words kept."""

import re
from typing import TYPE_CHECKING

import pytest

from config.signin_links import link_for
from tests.approvals.builders import a_decision, a_person, acting, again, decide
from tests.support import runs
from tests.support.chromium import BROWSER_PATIENCE
from tests.support.programs import Site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.processes]


@pytest.fixture
def page_without_scripts(browser: "Browser") -> "Iterator[Page]":
    context = browser.new_context(java_script_enabled=False, viewport={"width": 320, "height": 700})
    context.set_default_timeout(BROWSER_PATIENCE)
    yield context.new_page()
    context.close()


def sign_in(page: "Page", site: Site, name: str = "mara") -> str:
    web = site.start_web()
    page.goto(link_for(a_person(name), site=web.url))
    page.get_by_role("button", name=f"Sign in as {name}").click()
    page.wait_for_url("**/password/")
    return web.url


def test_one_call_is_struck_off_and_the_rest_approved_with_all_words_kept(
    site: Site, page: "Page", complaints: list[str]
) -> None:
    decision = a_decision()
    url = sign_in(page, site)
    page.goto(f"{url}/decisions/")
    page.get_by_role("link", name="Decide").click()
    page.get_by_role("textbox", name="Comment").fill("Looked at each.")

    page.get_by_role("button", name="Strike off call 2").click()
    page.get_by_text("2 of 3 calls").wait_for()
    kept = page.get_by_role("textbox", name="Comment").input_value()
    page.get_by_role("radio", name="Approve").check()
    page.get_by_label("Type the last 6 characters").fill(str(decision.run_id)[-6:])
    page.get_by_role("button", name="Record decision").click()
    page.get_by_text("Recorded: approved. The run goes on.").wait_for()
    runs.drain()

    assert kept == "Looked at each."
    assert runs.facts_of(decision.run_id)["paid"] == {"confirmed": 2, "refused": 0, "struck_off": 1}
    assert not complaints


def test_the_form_is_kept_while_the_page_says_that_somebody_was_faster(
    site: Site, page: "Page"
) -> None:
    decision = a_decision()
    ben = acting(a_person("ben"))
    url = sign_in(page, site)
    page.goto(f"{url}/decisions/{decision.pk}/")
    page.get_by_role("textbox", name="Comment").fill("Half a sen")

    decide(ben, decision)

    page.locator("#status").get_by_text("Approved by ben").wait_for()
    assert page.get_by_role("textbox", name="Comment").input_value() == "Half a sen"


def test_a_decision_is_answered_by_keyboard_alone(site: Site, page: "Page") -> None:
    decision = a_decision("question")
    url = sign_in(page, site)
    page.goto(f"{url}/decisions/")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="How much may be paid back?").wait_for()
    page.wait_for_load_state()

    page.get_by_role("radio").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.type("1200")
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text("Recorded: answered").wait_for()

    assert again(decision).option == "pay_back"


def test_without_scripts_on_a_narrow_phone_everything_works(
    site: Site, page_without_scripts: "Page"
) -> None:
    page = page_without_scripts
    decision = a_decision(text="x" * 200)
    url = sign_in(page, site)
    page.goto(f"{url}/decisions/{decision.pk}/")
    wide = page.locator("html").bounding_box()

    page.get_by_role("button", name="Strike off call 1").click()
    page.get_by_text("2 of 3 calls").wait_for()
    page.get_by_role("radio", name="Reject").check()
    page.get_by_role("button", name="Record decision").click()
    page.get_by_text("Recorded: rejected. The run is cancelled.").wait_for()

    assert wide
    assert wide["width"] <= 320
    assert again(decision).state == "rejected"


@pytest.mark.parametrize("width", [320, 1280])
def test_no_page_of_decisions_scrolls_sideways(site: Site, page: "Page", width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    listed, call = a_decision(text="y" * 300), a_decision("one_call")
    unknown = a_decision("wire")
    url = sign_in(page, site)

    wider = {}
    for place in ("", f"{listed.pk}/", f"{listed.pk}/calls/1/", f"{call.pk}/", f"{unknown.pk}/"):
        page.goto(f"{url}/decisions/{place}")
        wider[place] = page.evaluate("document.documentElement.scrollWidth - innerWidth")

    assert set(wider.values()) == {0}, wider


def test_every_target_is_large_enough_to_hit(site: Site, page: "Page") -> None:
    page.set_viewport_size({"width": 320, "height": 800})
    decision = a_decision()
    url = sign_in(page, site)
    page.goto(f"{url}/decisions/{decision.pk}/")

    small = [
        text
        for button in page.locator("main button:visible, main label.choice").all()
        if (box := button.bounding_box()) and (box["height"] < 24 or box["width"] < 24)
        for text in [re.sub(r"\s+", " ", button.inner_text())]
    ]

    assert not small
