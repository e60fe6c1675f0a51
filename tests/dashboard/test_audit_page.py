"""What was done beside the runs: read by administrators, verified as it is shown, taken away whole."""

import csv
import json
import re
from html import unescape

import pytest
from django.contrib.auth.models import Group
from django.db import connection, transaction
from django.test import Client

from runs.ledger import audit
from runs.models import Membership
from runs.queries import pages_acts
from runs.queries.clock import db_now
from runs.queries.pages_acts import Wanted
from runs.rules import canonical
from runs.rules.chain import Draft
from tests.commands.saying import manage
from tests.dashboard.builders import a_person, start
from tests.support import runs

pytestmark = pytest.mark.django_db


@pytest.fixture
def heading(client: Client) -> Client:
    """An administrator of the default tenant."""
    client.force_login(a_person("hedy", "administer"))
    return client


def done(kind: str, *, by: str = "omar", tenant: str = "default", **body: object) -> None:
    told = [Draft(kind=kind, body=canonical.dumps(body))]
    audit.append_to_tenant(runs.the_tenant(tenant).pk, told, now=db_now(), actor=by)


def test_administrators_read_who_did_what_the_newest_first(
    heading: Client, viewing: Client
) -> None:
    done("channel.made", name="ops")
    done("person.signed_out", by="zoe", name="pia")

    page, found = heading.get("/audit/").text, heading.get("/audit/?what=signed out&by=zo%00").text

    assert page.index("person signed out") < page.index("channel made")
    assert "name pia" in page
    assert "hashed anew just now" in page
    assert "person signed out" in found
    assert "channel made" not in found
    assert viewing.get("/audit/").status_code == 403
    assert viewing.get("/audit/acts.csv").status_code == 403


def test_an_act_that_names_a_run_leads_to_it(heading: Client) -> None:
    run_id = start("example_log")
    done("call.late_answer", run=str(run_id), answer={"id": "ch-1"})

    assert f'href="/runs/{run_id}/"' in heading.get("/audit/").text


def test_another_tenants_acts_are_nobodys_to_know(client: Client) -> None:
    hedy = a_person("hedy", "administer")
    Membership.objects.create(tenant=runs.the_tenant("theirs"), user=hedy)
    client.force_login(hedy)
    done("channel.made", name="only-here")

    parts = ("", "chain.jsonl", "acts.csv")
    answers = [client.get(f"/audit/{path}?tenant=default") for path in parts]

    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert "only-here" not in client.get("/audit/acts.csv").getvalue().decode()
    assert "only-here" not in client.get("/audit/").text


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        ("UPDATE runs_auditevent SET actor = 'nobody' WHERE seq = 1", "not what its hash covers"),
        ("DELETE FROM runs_auditevent WHERE seq = 2", "event 2, the last one, is missing"),
        ("UPDATE runs_auditevent SET body = '{}' WHERE seq = 2", "not what its digest covers"),
        ("UPDATE runs_auditevent SET body = '{no' WHERE seq = 2", "not what its digest covers"),
        ("UPDATE runs_auditevent SET body = '[1]' WHERE seq = 2", "not what its digest covers"),
    ],
)
def test_what_was_changed_past_the_ledger_is_said_on_top(
    heading: Client, damage: str, expected: str
) -> None:
    done("channel.made", name="ops")
    done("channel.removed", name="ops")

    with transaction.atomic(), connection.cursor() as cursor:
        runs.without_guards()
        cursor.execute(damage)
        page = heading.get("/audit/").text
        transaction.set_rollback(True)

    assert "The chain is broken" in page
    assert expected in page


def test_the_whole_chain_is_taken_away(heading: Client) -> None:
    for number in range(60):
        done("channel.tested", number=number)

    lines = heading.get("/audit/chain.jsonl").getvalue().splitlines()

    assert [json.loads(line)["seq"] for line in lines] == list(range(1, 61))
    assert "Older" in heading.get("/audit/").text


def test_what_the_filter_lets_through_is_a_spreadsheet_that_computes_nothing(
    heading: Client,
) -> None:
    done("channel.made", by="=cmd()", name="ops", token="t-123456")
    done("person.signed_out", by="zoe", name="pia")

    page = heading.get("/audit/?what=channel").text
    (address,) = re.findall(r'href="(/audit/acts\.csv[^"]*)"', page)
    answer = heading.get(unescape(address))

    (row,) = csv.DictReader(answer.getvalue().decode().splitlines())
    assert answer.headers["Content-Disposition"] == 'attachment; filename="audit-default.csv"'
    assert (row["no."], row["who"], row["what"]) == ("1", "'=cmd()", "channel made")
    assert "name ops" in row["about"]
    assert "t-123456" not in str(row)
    assert "the newest 10,000 at most" in page


def test_a_spreadsheet_that_was_cut_says_so_in_its_last_line() -> None:
    for number in range(4):
        done("channel.tested", number=number)
    tenant, who = runs.the_tenant().pk, runs.the_operator()

    lines = list(pages_acts.sheet(who, tenant, Wanted(), most=3))

    assert len(lines) == 5
    assert lines[-1].startswith("Cut here: this file holds the newest 3 that fit.")
    assert len(list(pages_acts.sheet(who, tenant, Wanted(), most=4))) == 5


def test_the_command_tells_the_same_and_writes_the_same_spreadsheet(heading: Client) -> None:
    done("channel.made", by="@zoe", name="ops")
    done("person.signed_out", by="zoe", name="pia")

    told = manage("runs", "audit", "--tenant", "default", "--what", "channel", "--json").json
    said = manage("runs", "audit", "--tenant", "default").out
    sheet = manage("runs", "audit", "--tenant", "default", "--what", "channel", "--csv").out
    misused = manage("runs", "audit", "--csv")

    assert [(act["seq"], act["actor"]) for act in told["acts"]] == [(1, "@zoe")]
    assert told["fault"] == ""
    assert "2 " in said.splitlines()[0]
    assert "zoe: person signed out name pia" in said
    assert sheet == heading.get("/audit/acts.csv?what=channel").getvalue().decode()
    assert misused.code == 2


@pytest.fixture
def viewing(db: None) -> Client:
    """Somebody of the same tenant who administers nothing."""
    person = a_person("vera")
    person.groups.set(Group.objects.filter(name="viewers"))
    client = Client()
    client.force_login(person)
    return client
