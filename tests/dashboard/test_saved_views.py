"""Views of the list of runs: the built-in ones, and those that a person keeps under a name."""

import pytest
from django.test import Client
from django.urls import reverse

from runs.ledger import pausing, saved_views
from runs.models import Run, SavedView
from runs.queries.actors import actor_for
from runs.rules.policy import local_operator
from runs.rules.saved_views import MOST
from tests.dashboard.builders import a_person, many_runs, start, work
from tests.dashboard.test_run_list import references

pytestmark = pytest.mark.django_db(transaction=True)


def listed(client: Client, **asked: str) -> list[str]:
    return sorted(references(client.get(reverse("runs:run_list"), asked)))


def save(client: Client, name: str, asked_for: str) -> str:
    said = {"name": name, "asked_for": asked_for}
    return client.post(reverse("runs:view_save"), said, follow=True).text


def test_mine_stuck_and_a_label_are_found(looking: Client) -> None:
    start("example_ask", reference="asks")
    work()
    paused = start("example_ask", reference="paused")
    pausing.pause(local_operator("tests"), paused, because="Not now.")
    start("example_log", reference="queued")
    many_runs(1, reference="mine", started_by="mara", labels={"team": "mail"})

    page = looking.get(reverse("runs:run_list")).text

    assert 'href="?q=by%3Amara">Mine</a>' in page
    assert listed(looking, q="by:mara") == ["mine 0"]
    assert listed(looking, state="stuck") == ["asks", "paused"]
    assert listed(looking, q="team=mail") == ["mine 0"]
    assert listed(looking, q="team=night") == []
    assert Run.objects.count() == 4


def test_a_view_is_kept_under_a_name_replaced_and_forgotten(looking: Client) -> None:
    kept = save(looking, "  My\0  failed ", "state=failed&at=here&started=all")
    view = SavedView.objects.get()
    replaced = save(looking, "My failed", "state=queued")
    gone = looking.post(reverse("runs:view_forget", args=[view.pk]), follow=True)

    assert 'href="?state=failed&amp;started=all">My failed</a>' in kept
    assert 'href="?state=queued">My failed</a>' in replaced
    assert "My failed" not in gone.text
    assert "Give the view a name" in save(looking, "  ", "state=failed")
    assert not SavedView.objects.exists()


def test_it_is_that_persons_alone_and_they_keep_a_limited_number(looking: Client) -> None:
    save(looking, "hers", "state=failed")
    other, olga = Client(), a_person("olga")
    other.force_login(olga)
    for number in range(MOST):
        saved_views.save(actor_for(olga), name=f"view {number}", query="state=failed")
    told = save(other, "one more", "state=failed")

    view = SavedView.objects.get(name="hers")
    refused = other.post(reverse("runs:view_forget", args=[view.pk]))

    assert ">hers<" not in other.get(reverse("runs:run_list")).text
    assert refused.status_code == 404
    assert f"You keep {MOST} views already" in told
    assert SavedView.objects.count() == MOST + 1
