"""A database that forgets commits, or has lost its guards, is refused before anything is entrusted to it."""

import pytest
from django.core.checks import run_checks
from django.db import connection

from tests.support import runs
from tests.support.programs import Site

pytestmark = pytest.mark.django_db(transaction=True)

FORGETFUL = {
    "sqlite": "PRAGMA synchronous = NORMAL",
    "postgresql": "SET synchronous_commit TO off",
}


def found() -> set[str | None]:
    return {problem.id for problem in run_checks(tags=["workflows"])}


def test_a_database_as_it_should_be_raises_no_doubts() -> None:
    assert not found() & {"runs.E025", "runs.E026"}


def test_a_missing_guard_is_named() -> None:
    """R20"""
    try:
        runs.without_guards()
        assert "runs.E025" in found()
        # What makes them again is not kept from doing so.
        assert not run_checks(tags=["workflows"], databases=["default"])
    finally:
        runs.with_guards()

    assert "runs.E025" not in found()


def test_commits_that_could_be_forgotten_are_refused() -> None:
    """R30"""
    with connection.cursor() as cursor:
        cursor.execute(FORGETFUL[connection.vendor])
    try:
        assert "runs.E026" in found()
    finally:
        connection.close()


def test_transactions_that_see_too_little_are_refused() -> None:
    """R30"""
    if connection.vendor == "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE")
    try:
        assert "runs.E026" in found()
    finally:
        connection.close()


@pytest.mark.processes
def test_a_cluster_does_not_start_on_a_database_without_its_guards(site: Site) -> None:
    try:
        runs.without_guards()
        refused = site.start("cluster")
        assert refused.ended(within=30) != 0
        assert "lacks the guard" in refused.said()
        assert site.manage("migrate", "--verbosity", "0").code == 0
    finally:
        runs.with_guards()
