"""`events deliver`: an event wakes the run that waits for it, is kept, or was there before."""

import pytest
from django.contrib.auth.models import User

from runs.models import Event
from tests.commands.saying import Said, manage
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_a_tenant")]


@pytest.fixture
def _a_tenant(transactional_db: None) -> None:
    runs.the_tenant()


def deliver(*words: str, message: str = "m-1", correlation: str = "7") -> Said:
    named = ("--correlation-id", correlation, "--message-id", message)
    return manage("events", "deliver", "order.paid", *named, *words)


def test_an_event_wakes_the_run_that_waits_for_it() -> None:
    run_id = runs.a_run("await")
    runs.drain()

    said = deliver("--payload", '{"sum": 12}', "--json")
    runs.drain()

    assert said.json == {
        "name": "order.paid",
        "correlation_id": "7",
        "message_id": "m-1",
        "outcome": "used",
    }
    assert runs.facts_of(run_id)["payload"] == {"sum": 12}


def test_an_event_that_comes_first_is_kept_until_a_run_waits_for_it() -> None:
    said = deliver("--payload", '{"sum": 12}')
    run_id = runs.a_run("await")
    runs.drain()

    assert said.out.strip() == "No run waits for it yet; it is kept until one does."
    assert runs.facts_of(run_id)["payload"] == {"sum": 12}


def test_a_message_that_comes_twice_is_one_event() -> None:
    deliver()

    assert deliver("--json").json["outcome"] == "duplicate"
    assert Event.objects.count() == 1


def test_an_event_with_another_correlation_id_wakes_nobody() -> None:
    run_id = runs.a_run("await")
    runs.drain()

    assert deliver("--json", correlation="8").json["outcome"] == "kept"
    assert runs.state_of(run_id) == "waiting"


def test_the_event_says_who_brought_it() -> None:
    deliver()

    assert Event.objects.get().source.startswith("local operator ")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--payload", "12"), 2, "--payload has to be a JSON object"),
        (("--payload", "{"), 2, "--payload is no JSON"),
        (("--payload", '{"sum": 9007199254740993}'), 2, "$.sum: the whole number"),
        (("--tenant", "elsewhere"), 1, "There is no tenant 'elsewhere'"),
        (("--as", "nobody"), 2, "There is no active user 'nobody'"),
    ],
)
def test_what_cannot_be_delivered_is_refused(
    words: tuple[str, ...], code: int, sentence: str
) -> None:
    said = deliver(*words)

    assert said.code == code
    assert sentence in said.err
    assert not Event.objects.exists()


def test_a_name_that_is_too_long_is_refused() -> None:
    assert deliver(message="m" * 301).code == 2
    assert deliver(correlation="").code == 2


def test_a_user_without_the_permission_delivers_nothing() -> None:
    User.objects.create_user("bob")

    assert deliver("--as", "bob").code == 1
    assert not Event.objects.exists()
