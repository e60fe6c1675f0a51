"""The pages of schedules: what a person reads, makes, changes and starts there."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from runs.ledger import ticks
from runs.models import Firing, Membership, Run, Schedule, Tenant
from runs.queries.clock import db_now
from tests.dashboard.builders import a_person
from tests.schedules.builders import a_schedule, fire, let_it_be_due
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_known")]


@pytest.fixture
def operating(client: Client) -> Client:
    runs.the_tenant()
    client.force_login(a_person("omar", "operate", "view_payloads"))
    return client


@pytest.fixture
def looking(client: Client) -> Client:
    runs.the_tenant()
    client.force_login(a_person("lena"))
    return client


def page(client: Client, name: str, *given: object, status: int = 200) -> str:
    answer = client.get(reverse(f"runs:{name}", args=given))
    assert answer.status_code == status
    return answer.content.decode()


def asked(**more: Any) -> dict[str, Any]:
    return {
        "slug": "nightly",
        "tenant": "default",
        "workflow": "sync",
        "cron": "30 2 * * *",
        "zone": "Europe/Berlin",
        "dst": "once",
        "overlap": "skip",
        "catch_up": "latest",
        "input": "{}",
    } | more


def test_without_any_it_says_how_to_make_one(looking: Client) -> None:
    text = page(looking, "schedule_list")

    assert "Nothing is due by itself." in text
    assert "schedules add" in text


def test_the_list_says_when_in_words_and_what_came_of_the_last_time(looking: Client) -> None:
    schedule = a_schedule(zone="Europe/Berlin")
    ticks.note("schedules", holder="tests")
    let_it_be_due(schedule)
    fire()
    Schedule.objects.filter(pk=schedule.pk).update(cron="0 2 * * *", every=None)

    text = page(looking, "schedule_list")

    assert "At 02:00 every day, Europe/Berlin" in text
    assert "0 2 * * *" in text
    assert "started" in text
    assert "Scheduler not seen" not in text
    assert "New schedule" not in text


def test_what_is_overdue_is_said_in_red(looking: Client) -> None:
    schedule = a_schedule()
    long_ago = db_now() - timedelta(minutes=5)
    Schedule.objects.filter(pk=schedule.pk).update(next_at=long_ago, due_at=long_ago)

    text = page(looking, "schedule_list")

    assert "scheduler not seen" in text
    assert "<strong>Scheduler not seen</strong>" in text


def test_the_form_previews_the_next_five_and_makes_nothing(operating: Client) -> None:
    answer = operating.post(reverse("runs:schedule_new"), asked(preview="1"))

    text = answer.content.decode()
    assert answer.status_code == 200
    assert text.count("<li><time") == 5
    assert not Schedule.objects.exists()


def test_the_form_makes_one_for_another_tenant_with_a_name_and_labels(operating: Client) -> None:
    other = Tenant.objects.create(slug="other", name="Other")
    refused = operating.post(reverse("runs:schedule_new"), asked(tenant="other"))
    Membership.objects.create(tenant=other, user=User.objects.get(username="omar"))

    named = asked(tenant="other", name="Every night", labels='{"team": "books"}')
    operating.post(reverse("runs:schedule_new"), named)
    wrong = operating.post(reverse("runs:schedule_new"), named | {"labels": '{"team": 7}'})

    made = Schedule.objects.get()
    assert refused.status_code == wrong.status_code == 422
    assert "An object of names and texts" in wrong.content.decode()
    assert (made.tenant, made.name, made.labels) == (other, "Every night", {"team": "books"})


def test_the_form_makes_one(operating: Client) -> None:
    answer = operating.post(reverse("runs:schedule_new"), asked())

    schedule = Schedule.objects.get()
    assert answer["Location"] == reverse("runs:schedule_show", args=[schedule.pk])
    assert "At 02:30 every day" in page(operating, "schedule_show", schedule.pk)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"overlap": ""}, "This field is required"),
        ({"cron": "x 2 * * *"}, "Bad minute"),
        ({"workflow": "mute"}, "Select a valid choice"),
        ({"input": '{"colour": 1}'}, "colour"),
        ({"every": "60"}, "either a cron expression or an interval"),
    ],
)
def test_the_form_refuses_at_the_field(operating: Client, wrong: dict[str, Any], said: str) -> None:
    answer = operating.post(reverse("runs:schedule_new"), asked(**wrong))

    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Schedule.objects.exists()


def test_the_page_changes_pauses_resumes_runs_and_removes_it(operating: Client) -> None:
    schedule = a_schedule()

    def post(name: str, **more: Any) -> None:
        answer = operating.post(reverse(f"runs:{name}", args=[schedule.pk]), more)
        assert answer.status_code == 302
        schedule.refresh_from_db()

    before = schedule.next_at
    assert "does not move the next run" in page(operating, "schedule_show", schedule.pk)
    assert "0 2 * * *" in page(operating, "schedule_change", schedule.pk)
    post("schedule_change", **asked(cron="0 5 * * *", revision=1))
    assert (schedule.cron, schedule.revision) == ("0 5 * * *", 2)
    assert schedule.next_at != before
    post("schedule_pause", because="moving", expected_version=2)
    assert "moving" in page(operating, "schedule_show", schedule.pk)
    post("schedule_resume", expected_version=3)
    post("schedule_run_now")
    assert Run.objects.get().started_by == "schedule nightly"
    assert "by hand" in page(operating, "schedule_show", schedule.pk)
    post("schedule_remove", expected_version=4)
    assert schedule.removed_at is not None
    page(operating, "schedule_show", schedule.pk, status=404)


def test_what_changed_meanwhile_is_409(operating: Client) -> None:
    schedule = a_schedule()

    paused = operating.post(
        reverse("runs:schedule_pause", args=[schedule.pk]), {"expected_version": 7}
    )
    changed = operating.post(reverse("runs:schedule_change", args=[schedule.pk]), asked(revision=7))
    ran = operating.post(
        reverse("runs:schedule_run_now", args=[schedule.pk]), {"expected_version": 7}
    )

    assert (paused.status_code, changed.status_code, ran.status_code) == (409, 409, 409)
    assert not Run.objects.exists()
    schedule.refresh_from_db()
    assert (schedule.enabled, schedule.revision) == (True, 1)


def test_who_may_not_operate_sees_no_buttons_and_is_refused(looking: Client) -> None:
    schedule = a_schedule()

    assert "Run now" not in page(looking, "schedule_show", schedule.pk)
    assert looking.get(reverse("runs:schedule_new")).status_code == 403
    for name in ("pause", "resume", "run_now", "remove"):
        address = reverse(f"runs:schedule_{name}", args=[schedule.pk])
        assert looking.post(address).status_code == 403
        assert looking.get(address).status_code == 405


def test_another_tenants_schedule_is_not_there(operating: Client) -> None:
    other = Tenant.objects.create(slug="other", name="Other")
    schedule = a_schedule()
    Schedule.objects.filter(pk=schedule.pk).update(tenant=other)

    page(operating, "schedule_show", schedule.pk, status=404)
    page(operating, "schedule_change", schedule.pk, status=404)
    assert operating.post(reverse("runs:schedule_pause", args=[schedule.pk])).status_code == 404
    assert "nightly</a>" not in page(operating, "schedule_list")


def test_firings_are_paged_without_counting_past_rows(operating: Client) -> None:
    schedule = a_schedule()
    now = db_now()
    Firing.objects.bulk_create(
        Firing(
            tenant_id=schedule.tenant_id,
            schedule=schedule,
            nominal_at=now - timedelta(minutes=number),
            state="missed",
            reason=f"number {number}.",
            decided_at=now,
        )
        for number in range(60)
    )

    first = operating.get(reverse("runs:schedule_show", args=[schedule.pk]))
    older = operating.get(
        reverse("runs:schedule_show", args=[schedule.pk]) + first.context["older_url"]
    )

    assert "number 49." in first.content.decode()
    assert "number 50." not in first.content.decode()
    assert "number 59." in older.content.decode()


def test_a_streak_is_on_the_first_page(looking: Client) -> None:
    schedule = a_schedule()
    Schedule.objects.filter(pk=schedule.pk).update(skips=4)

    text = looking.get("/").content.decode()

    assert "nightly: 4 due times in a row came to nothing" in text
