"""The pages of replay and restart: what is shown before, what a form does, what is refused."""

from uuid import UUID

import pytest
from django.test import Client

from runs.ledger import lifecycle
from runs.models import Run
from tests.operating.conftest import world
from tests.operating.redone import World
from tests.support import runs

__all__ = ["world"]
pytestmark = pytest.mark.django_db(transaction=True)


def a_run() -> UUID:
    run_id = runs.a_run("redone_plan", reference="the list")
    runs.drain()
    runs.approve(run_id)
    runs.drain()
    return run_id


def text_of(client: Client, url: str) -> str:
    answer = client.get(url)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_the_page_of_a_replay_shows_each_steps_fate_and_changes_nothing(
    operating: Client, world: World
) -> None:
    run_id = a_run()
    before = Run.objects.filter(pk=run_id).values().get()

    page = text_of(operating, f"/runs/{run_id}/replays/?checkpoint=1")

    assert "done in generation 1; its body does not run again" in page
    assert "asks for approval of list" in page
    assert "not sent again; the known answer is reused" in page
    assert "Resume instead" in page
    assert Run.objects.filter(pk=run_id).values().get() == before


def test_a_replay_is_made_by_its_form_with_a_reason(operating: Client, world: World) -> None:
    run_id = a_run()
    form = operating.get(f"/runs/{run_id}/replays/?checkpoint=1").context["form"]
    said = {**form.initial, "judgements": "keep"}

    missing = operating.post(f"/runs/{run_id}/replays/", {**said, "because": ""})
    done = operating.post(f"/runs/{run_id}/replays/", {**said, "because": "look"})

    assert missing.status_code == 422
    assert (done.status_code, runs.the_run(run_id).generation) == (302, 2)
    again = operating.post(f"/runs/{run_id}/replays/", {**said, "because": "look"})
    assert again.status_code == 409


def test_a_restart_that_repeats_what_cannot_be_undone_takes_six_typed_characters(
    operating: Client, world: World
) -> None:
    run_id = a_run()
    url = f"/runs/{run_id}/restarts/"
    page = text_of(operating, url)
    said = {**operating.get(url).context["form"].initial, "because": "anew"}

    wrong = operating.post(url, {**said, "confirm": "nothing"})
    done = operating.post(url, {**said, "confirm": "e list"})

    assert "2 effects would happen a second time" in page
    assert "A person decides first." in page
    assert wrong.status_code == 422
    new = Run.objects.get(restart_of=run_id)
    assert (done.status_code, done["Location"], new.state) == (302, f"/runs/{new.pk}/", "waiting")
    assert "restarted as" in text_of(operating, f"/runs/{run_id}/")
    assert "prev run" in text_of(operating, f"/runs/{new.pk}/")


def test_a_final_run_offers_a_new_one_from_the_checkpoint(operating: Client, world: World) -> None:
    """I10"""
    run_id = a_run()
    lifecycle.cancel(runs.the_operator(), run_id, because="enough")

    page = text_of(operating, f"/runs/{run_id}/replays/?checkpoint=1")

    assert "Begin a new run from checkpoint 1" in page
    assert 'method="post"' not in page.split('id="dry-run"')[1].split("</main>")[0]


def test_checkpoints_lead_to_a_replay_from_there(operating: Client, world: World) -> None:
    run_id = a_run()

    page = text_of(operating, f"/runs/{run_id}/?tab=checkpoints")

    assert f'/runs/{run_id}/replays/?checkpoint=1">replay from here' in page


def test_whoever_may_only_look_finds_neither_page(looking: Client, world: World) -> None:
    run_id = a_run()

    assert looking.get(f"/runs/{run_id}/replays/").status_code == 403
    assert looking.post(f"/runs/{run_id}/restarts/", {"because": "x"}).status_code == 403


def test_superseded_attempts_are_drawn_as_such(operating: Client, world: World) -> None:
    run_id = a_run()
    operating.post(
        f"/runs/{run_id}/replays/",
        {"checkpoint": 0, "judgements": "keep", "because": "look"},
    )
    runs.drain()

    page = text_of(operating, f"/runs/{run_id}/")

    assert "superseded by a replay</title>" in page
