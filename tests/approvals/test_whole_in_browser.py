"""In a real browser: nobody can tick what they have seen a part of; having the whole opens it."""

from typing import TYPE_CHECKING

import pytest

from tests.approvals.builders import a_decision
from tests.approvals.test_deciding_in_browser import sign_in

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.support.programs import Site

pytestmark = [pytest.mark.browser, pytest.mark.processes]


def test_a_folded_list_is_approved_once_the_whole_has_been_downloaded(
    site: "Site", page: "Page", complaints: list[str]
) -> None:
    decision = a_decision(count=101)
    url = sign_in(page, site)
    page.goto(f"{url}/decisions/{decision.pk}/")
    approve = page.get_by_role("radio", name="Approve needs")

    before = approve.is_disabled(), page.get_by_role("radio", name="Reject").is_disabled()
    with page.expect_download() as file:
        page.get_by_role("button", name="Download the whole").click()
    page.get_by_role("link", name="load this page again").click()
    page.get_by_text("You have had the whole of it").wait_for()

    assert before == (True, False)
    assert file.value.suggested_filename == f"decision-{decision.pk}-whole.jsonl"
    assert approve.is_enabled()
    assert not approve.is_checked()
    assert not complaints
