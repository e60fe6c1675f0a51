"""The pages of drills: the list, one with its matrix, and what is taken away from it."""

import json
import xml.etree.ElementTree as ET
from uuid import UUID

import pytest
from django.test import Client

from runs.ledger import drills
from runs.models import Tenant
from runs.rules.drill_report import DrillReport
from runs.rules.policy import local_operator
from tests.drills.test_report import VIOLATION, a_report


def kept(report: DrillReport, *, tenant: str = "default") -> UUID:
    Tenant.objects.get_or_create(slug=tenant)
    return drills.keep(local_operator("tests"), report, tenant=tenant)


@pytest.fixture
def seeing(admin_client: Client) -> Client:
    """Somebody who sees every tenant."""
    return admin_client


def test_where_nothing_was_drilled_the_page_says_what_a_drill_is_and_how_one_starts(
    seeing: Client,
) -> None:
    page = seeing.get("/drills/").content.decode()

    assert "Nothing has been rehearsed yet" in page
    assert "manage.py drill ten_steps" in page


def test_the_list_tells_an_aborted_drill_from_a_failed_one(seeing: Client) -> None:
    kept(a_report(violations=(VIOLATION,)))
    kept(a_report(aborted_because="no cluster came up"))

    page = seeing.get("/drills/").content.decode()

    assert "state-failed" in page
    assert "The drill could not be finished: no cluster came up" in page
    assert ">aborted<" in page


def test_the_page_of_one_has_the_sentence_the_matrix_and_a_link_behind_each_cell(
    seeing: Client,
) -> None:
    drill_id = kept(a_report())

    page = seeing.get(f"/drills/{drill_id}/").content.decode()

    assert "2 of 3 boundaries survived; 1 needs a decision (expected)." in page
    for number in range(1, 5):
        assert f'href="#cell-{number}"' in page
        assert f'id="cell-{number}"' in page
    assert "undeclared" in page
    assert "shop.py:7" in page
    assert "Run r1 went on at book" in page


def test_a_violation_stands_above_everything_else(seeing: Client) -> None:
    drill_id = kept(a_report(violations=(VIOLATION,)))

    page = seeing.get(f"/drills/{drill_id}/").content.decode()

    assert page.index("It happened twice under one key.") < page.index('id="matrix"')


def test_the_first_page_shows_a_workflow_whose_newest_drill_failed_until_one_passes(
    seeing: Client,
) -> None:
    failed = kept(a_report(violations=(VIOLATION,)))
    kept(a_report(aborted_because="no cluster came up"))
    before = seeing.get("/").content.decode()

    kept(a_report(started_at="2099-01-01T00:00:00+00:00"))

    assert "A drill failed" in before
    assert f"/drills/{failed}/" in before
    assert "Nothing needs you" not in before
    assert "A drill failed" not in seeing.get("/").content.decode()


def test_json_junit_and_html_are_taken_away_as_files(seeing: Client) -> None:
    drill_id = kept(a_report())

    answers = {
        kind: seeing.get(f"/drills/{drill_id}/report.{kind}") for kind in ("json", "xml", "html")
    }

    for kind, answer in answers.items():
        assert answer.headers["Content-Disposition"] == (
            f'attachment; filename="drill-{drill_id}.{kind}"'
        )
    assert json.loads(answers["json"].content)["kills"] == 3
    assert ET.fromstring(answers["xml"].content).attrib["tests"] == "4"  # noqa: S314
    assert b"boundaries survived" in answers["html"].content


def test_a_drill_of_another_tenant_is_not_there(looking: Client) -> None:
    drill_id = kept(a_report(), tenant="theirs")

    assert looking.get(f"/drills/{drill_id}/").status_code == 404
    assert looking.get(f"/drills/{drill_id}/report.json").status_code == 404
    assert str(drill_id) not in looking.get("/drills/").content.decode()


def test_looking_at_drills_changes_nothing(seeing: Client) -> None:
    assert seeing.post("/drills/").status_code == 405
