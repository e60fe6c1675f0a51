"""`runs start`: what it says at once, what it refuses, and as whom it acts."""

import json
import re
from pathlib import Path
from uuid import UUID

import pytest
from django.contrib.auth.models import Permission, User

from runs.models import AuditEvent, Run
from tests.commands.saying import manage
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_a_tenant")]


@pytest.fixture
def _a_tenant(transactional_db: None) -> None:
    runs.the_tenant()


def started(*words: str) -> Run:
    said = manage("runs", "start", *words, "--json")
    assert said.code == 0, said.err
    return Run.objects.get(pk=UUID(said.json["id"]))


def a_user(name: str, *permissions: str) -> User:
    user = User.objects.create_user(name)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return user


def test_it_answers_at_once_with_id_reference_and_state() -> None:
    said = manage("runs", "start", "count", "--reference", "monday", "--json")

    run = Run.objects.get()
    assert said.json == {"id": str(run.pk), "reference": "monday", "state": "queued"}


def test_without_json_it_says_so_in_a_sentence() -> None:
    said = manage("runs", "start", "count")

    assert said.out.strip() == f"run {Run.objects.get().pk} is queued"


def test_the_input_is_json_with_defaults_filled_in() -> None:
    run = started("count", "--input", '{"upto": 5}')

    assert json.loads(run.input) == {"upto": 5, "name": "ann"}


def test_the_input_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "input.json").write_text('{"name": "böb"}', encoding="utf-8")

    run = started("count", "--input", f"@{tmp_path / 'input.json'}")

    assert json.loads(run.input)["name"] == "böb"


def test_labels_version_and_start_key_are_kept() -> None:
    run = started(
        "count", "--label", "team=mail", "--label", "note=a=b", "--version", "1", "--start-key", "k"
    )

    assert (run.labels, run.version, run.start_key) == ({"team": "mail", "note": "a=b"}, 1, "k")


def test_the_latest_version_is_started_unless_one_is_named() -> None:
    assert started("count").version == 2


def test_the_same_start_key_answers_with_the_same_run() -> None:
    first = started("count", "--start-key", "monday")

    again = manage("runs", "start", "count", "--start-key", "monday")

    assert again.out.strip() == f"run {first.pk} is queued, started before under this start key"
    assert Run.objects.count() == 1


def test_the_same_start_key_with_another_input_is_refused() -> None:
    started("count", "--start-key", "monday")

    said = manage("runs", "start", "count", "--start-key", "monday", "--input", '{"upto": 9}')

    assert said.code == 1
    assert "already started run" in said.err


def test_every_field_that_is_wrong_is_named() -> None:
    said = manage("runs", "start", "count", "--input", '{"upto": "many", "nme": "x"}')

    assert said.code == 1
    assert said.out == ""
    assert [line.split(":")[0] for line in said.err.splitlines()] == [
        "count cannot start with this input", "  nme", "  upto",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("nothing",), 1, r"No workflow 'nothing' is registered here"),
        (("count", "--version", "9"), 1, r"No workflow 'count' version 9"),
        (("count", "--tenant", "elsewhere"), 1, r"There is no tenant 'elsewhere'"),
        (("count", "--input", '{"upto": 3'), 2, r"--input is no JSON: .*"),
        (("count", "--input", "[1]"), 2, r"--input has to be a JSON object"),
        (("count", "--input", '{"upto": NaN}'), 2, r"NaN is no JSON number"),
        (("count", "--input", "@nowhere.json"), 2, r"names a file that cannot be read"),
        (("count", "--label", "team"), 2, r"--label takes NAME=VALUE, not 'team'"),
        (("count", "--start-key", "k" * 201), 2, r"--start-key has 1 to 200 characters, not 201"),
        (("count", "--as", "nobody"), 2, r"There is no active user 'nobody'"),
    ],
)
def test_what_cannot_be_started_is_refused(
    words: tuple[str, ...], code: int, sentence: str
) -> None:
    said = manage("runs", "start", *words, "--json")

    assert (said.code, said.out) == (code, "")
    assert re.search(sentence, said.err)
    assert not Run.objects.exists()


def test_the_audit_names_the_local_operator() -> None:
    run = started("count")

    event = AuditEvent.objects.get(run=run)
    assert event.actor == run.started_by
    assert event.actor.startswith("local operator ")


def test_it_acts_as_the_user_that_is_named() -> None:
    a_user("ann", "operate")

    assert started("count", "--as", "ann").started_by == "ann"


def test_a_user_without_the_permission_starts_nothing() -> None:
    a_user("bob")

    said = manage("runs", "start", "count", "--as", "bob")

    assert said.code == 1
    assert "bob lacks the permission “operate”" in said.err
    assert not Run.objects.exists()
