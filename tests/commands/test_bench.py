"""The command `bench`: figures with the names that scripts read, and what may be asserted of them."""

import json

import pytest
from django.core.management import CommandError, call_command

from runs.management.scratch import scratch_sqlite

pytestmark = pytest.mark.one_database


@pytest.fixture(autouse=True)
def as_a_user_would(monkeypatch: pytest.MonkeyPatch) -> None:
    """The benchmark's own processes take the site's settings, not those of the tests."""
    monkeypatch.delenv("DJANGO_SETTINGS_MODULE")


def test_bench_steps_prints_its_figures_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("bench", "steps", "--runs", "5", "--only", "sqlite", "--json")

    (figures,) = json.loads(capsys.readouterr().out).values()
    assert set(figures) >= {"steps_per_second", "floor_per_second", "ratio", "commits_per_step"}
    assert figures["commits_per_step"] <= 1.2


@pytest.mark.long
def test_bench_latency_prints_its_figures_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("bench", "latency", "--runs", "2", "--only", "sqlite", "--json")

    (figures,) = json.loads(capsys.readouterr().out).values()
    assert {"start_median", "answer_median"} <= set(figures)


def test_bench_pings_prints_its_figures_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("bench", "pings", "--runs", "40", "--only", "sqlite", "--json")

    (figures,) = json.loads(capsys.readouterr().out).values()
    assert set(figures) == {"pings_per_second", "bare_view_per_second", "ratio"}


def test_bench_refuses_a_number_of_runs_that_is_none() -> None:
    with pytest.raises(CommandError, match="1 or more"):
        call_command("bench", "steps", "--runs", "0")


def test_a_scratch_database_is_gone_afterwards() -> None:
    with scratch_sqlite() as place:
        place.manage("migrate", "--verbosity", "0")
        there = list(place.folder.iterdir())

    assert there
    assert not place.folder.exists()
