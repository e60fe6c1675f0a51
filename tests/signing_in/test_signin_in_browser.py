"""The first visit, in a real browser: a link, a button, a password or not."""

from typing import TYPE_CHECKING

import pytest

from config.signin_links import first_user, link_for
from tests.support.programs import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.processes]


def test_a_link_signs_in_and_a_password_does_so_later(
    site: Site, page: "Page", complaints: list[str]
) -> None:
    web = site.start_web()
    page.goto(link_for(first_user(), site=web.url))

    page.get_by_role("button", name="Sign in as operator").click()
    page.get_by_label("New password", exact=True).fill("correct horse battery")
    page.get_by_label("New password confirmation").fill("correct horse battery")
    page.get_by_role("button", name="Set password").click()
    page.get_by_text("Your password is set").wait_for()
    page.get_by_label("You, help").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Username").fill("operator")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in").click()

    page.get_by_role("heading", name="Needs you").wait_for()
    assert not complaints
