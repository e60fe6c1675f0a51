"""The commands that do something again, and the dry runs of them."""

import json
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command

from tests.operating.conftest import world
from tests.operating.redone import World
from tests.support import runs

__all__ = ["world"]
pytestmark = pytest.mark.django_db(transaction=True)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    call_command("runs", *arguments)
    return capsys.readouterr().out


def a_run() -> UUID:
    run_id = runs.a_run("redone_plan", reference="the list")
    runs.drain()
    runs.approve(run_id)
    runs.drain()
    return run_id


def test_replay_says_what_it_would_do_and_then_does_it(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    run_id = a_run()

    shown = json.loads(said(capsys, "replay", str(run_id), "--from", "1", "--dry-run", "--json"))
    done = json.loads(
        said(capsys, "replay", str(run_id), "--from", "1", "--because", "look", "--json")
    )

    assert [step["fate"] for step in shown["steps"]] == ["kept", "asked", "asked"]
    assert (shown["keys"]["same"], shown["repeated"]["total"], shown["generation"]) == (2, 0, 2)
    assert (done["state"], done["generation"], done["step"]) == ("queued", 2, "purge")


def test_restart_lists_what_would_happen_twice_and_asks(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    run_id = a_run()

    text = said(capsys, "restart", "the list", "--dry-run")
    done = json.loads(said(capsys, "restart", str(run_id), "--because", "anew", "--json"))

    assert "2 effects would happen a second time, 2 cannot be undone:" in text
    assert "shop.delete a (confirmed): cannot be undone" in text
    assert (done["state"], done["asks"], done["restart_of"]["state"]) == (
        "waiting",
        True,
        "waiting",
    )


def test_resume_has_a_dry_run_too(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    run_id = runs.a_run("redone")

    with pytest.raises(SystemExit):
        said(capsys, "resume", str(run_id), "--dry-run")

    assert "queued already" in capsys.readouterr().out


def test_a_replay_that_is_refused_ends_with_one_and_says_why(world: World) -> None:
    run_id = a_run()

    with pytest.raises(CommandError, match="no checkpoint 77") as refused:
        call_command("runs", "replay", str(run_id), "--from", "77", "--because", "look")
    assert refused.value.returncode == 1
    with pytest.raises(CommandError, match="--because") as misused:
        call_command("runs", "restart", str(run_id))
    assert misused.value.returncode == 2


def test_show_names_what_a_run_was_begun_in_place_of_and_what_in_its(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    old = a_run()
    new = json.loads(said(capsys, "restart", str(old), "--because", "anew", "--json"))["id"]

    assert f"restarted as run {new}" in said(capsys, "show", str(old))
    assert json.loads(said(capsys, "show", new, "--json"))["restart_of"] == str(old)
