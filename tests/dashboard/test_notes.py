"""Notes on a run: written at once by page or command, read by all who see it, withdrawn by their author."""

from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse

from runs.models import AuditEvent, Note, Run
from runs.queries.verify import violations
from runs.rules.notes import LONGEST
from tests.commands.saying import manage
from tests.dashboard.builders import a_person, start, work
from tests.dashboard.test_run_page import page_of

pytestmark = pytest.mark.django_db
SAID = "The warehouse is closed until Monday."


def write(client: Client, run: UUID, text: str = SAID) -> str:
    return client.post(reverse("runs:note", args=[run]), {"text": text}, follow=True).text


def test_a_note_stands_on_the_page_and_in_the_audit_with_who_and_when(operating: Client) -> None:
    run = start("example_ask")
    before = Run.objects.get(pk=run)

    page = write(operating, run, f"\0{SAID}")

    event = AuditEvent.objects.get(run_id=run, kind="run.noted")
    assert SAID in page
    assert "<strong>omar</strong>" in page
    assert (event.actor, SAID in event.body) == ("omar", True)
    assert Run.objects.get(pk=run).updated_at == before.updated_at, "since when it stands so"
    assert violations([run]) == []


def test_it_is_said_with_a_way_back_which_withdraws_it(operating: Client) -> None:
    run = start("example_ask")
    page = write(operating, run)
    undo = reverse("runs:note_withdraw", args=[run, Note.objects.get().pk])

    after = operating.post(undo, follow=True).text
    again = operating.post(undo)

    assert 'class="toast undo state-ok" role="status"' in page
    assert page.count(f'action="{undo}"') == 2, "beside the note too"
    assert SAID not in after
    assert "withdrawn" in after
    assert again.status_code == 409
    assert AuditEvent.objects.filter(run_id=run, kind="run.note_withdrawn").count() == 1


def test_only_its_author_withdraws_a_note(operating: Client, client: Client) -> None:
    run = start("example_ask")
    write(operating, run)
    client.force_login(a_person("nora", "operate"))
    withdraw = reverse("runs:note_withdraw", args=[run, Note.objects.get().pk])

    page, refused = page_of(client, run).text, client.post(withdraw)

    assert SAID in page
    assert withdraw not in page
    assert refused.status_code == 409
    assert Note.objects.get().withdrawn_at is None


@pytest.mark.django_db(transaction=True)
def test_a_final_run_may_be_noted_on_and_its_tenants_chain_says_so(operating: Client) -> None:
    run = start("example_log")
    work()
    head = Run.objects.get(pk=run).head

    page = write(operating, run)

    event = AuditEvent.objects.get(run=None, kind="run.noted")
    assert SAID in page
    assert str(run) in event.body
    assert Run.objects.get(pk=run).head == head
    assert violations([run]) == []


def test_what_looks_like_a_secret_is_kept_nowhere(operating: Client) -> None:
    run = start("example_ask")

    page = write(operating, run, "try password: hunter22222 again")

    event = AuditEvent.objects.get(run_id=run, kind="run.noted")
    assert "hunter22222" not in page + event.body + Note.objects.get().text
    assert "again" in page


@pytest.mark.parametrize("text", ["  ", "x" * (LONGEST + 1)])
def test_what_is_no_note_is_refused_and_not_lost(operating: Client, text: str) -> None:
    run = start("example_ask")

    refused = operating.post(reverse("runs:note", args=[run]), {"text": text})

    assert refused.status_code == 422
    assert f"{text}</textarea>" in refused.text
    assert not Note.objects.exists()


def test_whoever_may_only_look_reads_notes_and_writes_none(looking: Client) -> None:
    run = start("example_ask")
    manage("runs", "note", run, SAID)

    page, refused = page_of(looking, run).text, looking.post(reverse("runs:note", args=[run]))

    assert SAID in page
    assert 'id="note-text"' not in page
    assert refused.status_code == 403


def test_a_run_of_others_cannot_be_noted_on(operating: Client) -> None:
    run = start("example_ask", tenant="others")

    refused = operating.post(reverse("runs:note", args=[run]), {"text": SAID})

    assert refused.status_code == 404
    assert not Note.objects.exists()


def test_the_command_notes_shows_and_withdraws() -> None:
    run = start("example_ask")

    told = manage("runs", "note", run, SAID, "--json").json
    shown = manage("runs", "show", run, "--json").json["notes"]
    said = manage("runs", "show", run).out
    withdrawn = manage("runs", "note", run, "--withdraw", told["id"], "--json").json
    gone = manage("runs", "show", run, "--json").json["notes"]
    misused = manage("runs", "note", run)

    assert (told["run"], told["text"]) == (str(run), SAID)
    assert [each["id"] for each in shown] == [told["id"]]
    assert f": {SAID}" in said
    assert withdrawn["withdrawn"]
    assert gone[0]["text"] == ""
    assert (misused.code, "Say what is noted" in misused.err) == (2, True)
