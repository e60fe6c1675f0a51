"""In a real browser: the title counts what needs somebody, the browser says that it grew, a page of channels fits a phone."""

from typing import TYPE_CHECKING

import pytest

from tests.dashboard.builders import start, work
from tests.dashboard.test_in_a_browser import NARROWEST, signed_in
from tests.support.programs import Program, Site
from tests.support.waiting import eventually
from tests.telling.builders import a_row

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.processes]

# The browser's own notices cannot be seen from a page; a stand-in keeps what it was told.
KEEPS_NOTICES = """
  window.told = [];
  window.Notification = class {
    static permission = "granted";
    static requestPermission() { window.told.push("asked"); }
    constructor(title, more) { window.told.push(more.body); }
  };
"""


@pytest.fixture
def web(site: Site) -> Program:
    return site.start_web()


def test_the_title_counts_and_the_browser_says_it_when_it_grows(
    web: Program, page: "Page", complaints: list[str]
) -> None:
    signed_in(page.context, web, "decide")
    page.add_init_script(KEEPS_NOTICES)
    page.goto(f"{web.url}/channels/")
    page.get_by_text("loaded ·").wait_for()
    page.get_by_role("button", name="Notify me in this browser").click()
    start("example_ask", reference="order-8812")
    work()
    page.evaluate("htmx.trigger(document.body, 'live-frame')")

    told = ["asked", "1 need you"]
    eventually(lambda: page.title() == "(1) Channels · Milepost", what="it counts")
    eventually(lambda: page.evaluate("window.told") == told, what="it says so")
    assert not complaints


def test_channels_fit_the_narrowest_screen(web: Program, page: "Page") -> None:
    signed_in(page.context, web)
    row = a_row("a channel with a rather long name", last_error="Nothing came back " * 20)
    page.set_viewport_size({"width": NARROWEST, "height": 640})

    wide = []
    for path in ("/channels/", f"/channels/{row.pk}/", "/channels/?severity=critical&tenant=1"):
        page.goto(f"{web.url}{path}")
        if page.evaluate("document.documentElement.scrollWidth - innerWidth") > 0:
            wide.append(path)

    assert not wide
