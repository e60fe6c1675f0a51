"""Which limit was breached, how far, and who was slow, stands on the run's page and in `runs why`."""

import re
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse

from runs.definition import Retry, Workflow, registry, step
from runs.engine.clockwork import Clockwork
from runs.models import Run
from runs.queries.clock import db_now
from tests.commands.saying import manage
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _workflows() -> Iterator[None]:
    with registry.isolated():
        yield


def a_slow_run() -> UUID:
    class Dawdles(Workflow):
        name, version = "dawdles", 1
        deadline = timedelta(hours=1)

        @step(writes=["done"], timeout=timedelta(seconds=0.1), retry=Retry(attempts=2))
        def dawdle(self, run: Any) -> None:
            time.sleep(0 if run.attempt > 1 else 60)
            run.write("done", True)

    return runs.a_run(Dawdles)


def page_of(client: Client, run_id: UUID) -> str:
    answer = client.get(reverse("runs:run_show", args=[run_id]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_step_timeout_and_a_deadline_are_told_apart(operating: Client) -> None:
    run_id = a_slow_run()
    runs.drain()
    assert "deadline: " in page_of(operating, run_id)
    Run.objects.filter(pk=run_id).update(created_at=db_now() - timedelta(hours=2))
    Clockwork().go_round()

    page = page_of(operating, run_id)

    step_timeout = r"Step timeout: step dawdle took [\d.]+ s of 0\.1 s allowed\. Cause: design\."
    assert re.search(step_timeout, page)
    assert "Run deadline: the run took 2 h of 1 h allowed. Cause: " in page
    assert "Its deadline is over: 2 h of 1 h used." in page


def test_why_names_each_breach_with_its_cause_and_what_came_of_it() -> None:
    run_id = a_slow_run()
    runs.drain()

    said = manage("runs", "why", run_id)
    (told,) = manage("runs", "why", run_id, "--json").json["limits"]

    assert "Step timeout: step dawdle took" in said.out
    assert (told["limit"], told["cause"], told["then"]) == ("step timeout", "design", "waiting")
    assert {"trigger", "elapsed", "allowed", "at", "sentence"} <= told.keys()


@pytest.mark.parametrize(
    ("said", "code", "state"),
    [("3h", 0, "queued"), ("1d12h", 0, "queued"), ("90m", 1, "failed"), ("soon", 1, "failed")],
)
def test_resume_takes_a_longer_deadline_in_words(said: str, code: int, state: str) -> None:
    run_id = a_slow_run()
    Run.objects.filter(pk=run_id).update(created_at=db_now() - timedelta(hours=2))
    Clockwork().go_round()
    assert runs.state_of(run_id) == "failed"

    answer = manage("runs", "resume", run_id, "--deadline", said)

    assert (answer.code, runs.state_of(run_id)) == (code, state)
