"""Two people at two browsers: what one changes the other is told, and both together approve."""

from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User

from approvals.ledger import striking
from approvals.models import Decision, Record
from config.signin_links import link_for
from tests.approvals.agreed import asking
from tests.approvals.builders import a_decision, a_person, acting, again
from tests.support.chromium import BROWSER_PATIENCE
from tests.support.programs import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.processes]


@pytest.fixture
def another_page(browser: "Browser") -> "Iterator[Callable[[], Page]]":
    contexts = []

    def opened() -> "Page":
        contexts.append(browser.new_context(viewport={"width": 390, "height": 800}))
        contexts[-1].set_default_timeout(BROWSER_PATIENCE)
        return contexts[-1].new_page()

    yield opened
    for context in contexts:
        context.close()


def come_in(page: "Page", url: str, person: User) -> None:
    page.goto(link_for(person, site=url))
    page.get_by_role("button", name=f"Sign in as {person.username}").click()
    page.wait_for_url("**/password/")


def approve(page: "Page", decision: Decision, *, comment: str) -> None:
    page.get_by_role("radio", name="Approve").check()
    page.get_by_role("textbox", name="Comment").fill(comment)
    page.get_by_label("Type the last 6 characters").fill(str(decision.run_id)[-6:])
    page.get_by_role("button", name="Record decision").click()


def test_an_answer_to_what_was_changed_meanwhile_is_refused_with_the_difference(
    site: Site, page: "Page"
) -> None:
    decision, mara, ben = a_decision(), a_person("mara"), a_person("ben")
    url = site.start_web().url
    come_in(page, url, mara)
    page.goto(f"{url}/decisions/{decision.pk}/")
    page.route("**/status/**", lambda route: route.abort())

    striking.strike(
        acting(ben), decision.pk, ordinals=[3], struck=True, expected_version=decision.seq
    )
    with page.expect_response("**/answers/") as answered:
        approve(page, decision, comment="All three are due.")

    assert answered.value.status == 409
    page.get_by_text("All three are due.").first.wait_for()
    assert "3" in page.locator("main").inner_text()
    assert again(decision).state == "open"


def test_two_people_approve_together_what_takes_two(
    site: Site, page: "Page", another_page: "Callable[[], Page]"
) -> None:
    mara, ben = a_person("mara"), a_person("ben")
    decision = asking(quorum=2)
    url = site.start_web().url
    come_in(page, url, mara)
    page.goto(f"{url}/decisions/{decision.pk}/")
    approve(page, decision, comment="Mara has looked.")
    page.get_by_text("Your vote is recorded: 1 of 2.").first.wait_for()
    after_one = again(decision).state

    other = another_page()
    come_in(other, url, ben)
    other.goto(f"{url}/decisions/{decision.pk}/")
    seen = other.locator("main").inner_text()
    approve(other, decision, comment="Ben has looked.")
    other.get_by_text("Recorded: approved").wait_for()
    other.get_by_role("link", name="The page as ben saw it").click()
    other.get_by_text("This is the page as ben saw it").wait_for()

    assert (after_one, again(decision).state) == ("open", "approved")
    assert "mara" in seen
    assert Record.objects.filter(decision=decision).count() == 2
    assert "mara “approve”" in other.locator("main").inner_text()
