"""The find box: an exact name jumps to the thing, anything else filters the list."""

import pytest
from django.test import Client
from django.urls import reverse

from runs.models import Call, Run
from runs.queries.clock import db_now
from tests.dashboard.builders import start

pytestmark = pytest.mark.django_db


def find(client: Client, text: str) -> str:
    return client.get(reverse("runs:find"), {"q": text}).headers["Location"]


def test_a_run_id_and_a_reference_lead_to_the_run(looking: Client) -> None:
    run = start("example_log", reference="order-8812")
    page = reverse("runs:run_show", args=[run])

    assert find(looking, str(run)) == page
    assert find(looking, "order-8812") == page


def test_a_key_leads_to_the_step_that_sent_it(looking: Client) -> None:
    run = Run.objects.get(pk=start("example_call_contract", receiver="/tmp"))  # noqa: S108
    Call.objects.create(
        key="mp_abc", run=run, step="pay", scope="pay", effect="pay", resource="1", request="{}",
        request_digest="", irreversible=False, fence=0, intended_at=db_now(), sent_at=db_now(),
    )  # fmt: skip

    assert find(looking, "mp_abc") == reverse("runs:step_show", args=[run.pk, "pay"])


def test_anything_else_filters_the_list(looking: Client) -> None:
    start("example_log", reference="order-1")
    start("example_log", reference="order-1")

    assert find(looking, "order") == "/runs/?q=order&started=all"
    assert find(looking, "order-1") == "/runs/?q=order-1&started=all"
