"""A run taken away in one file: whole, checked without a database, and every change is named."""

import json
import shutil
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from approvals.ledger import claiming, ruling, striking, voting
from approvals.models import Decision
from runs.definition import Timing
from runs.queries.clock import db_now
from runs.rules.bundle import SEAL, Packer, opened
from runs.rules.bundle_checks import faults_of
from tests.approvals.agreed import asking, somebody
from tests.approvals.builders import a_decision, a_person, acting, again, decide
from tests.approvals.reading import signed_in
from tests.approvals.test_rules_that_answer import a_rule
from tests.commands.saying import manage
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


def exported(decision: Decision, to: Path) -> Path:
    file = to / "run.zip"
    said = manage("runs", "export", str(decision.run_id), "--to", str(file))
    assert said.code == 0, said
    return file


def an_administrator(name: str) -> User:
    person = somebody(name)
    person.is_superuser = True
    person.save()
    return person


def an_exported(to: Path) -> Path:
    """A run whose list was approved but for one call, and was carried out."""
    decision = a_decision(text="You owe us")
    paula = acting(a_person("paula"))
    claiming.claim(paula, decision.pk)
    striking.strike(
        paula, decision.pk, ordinals=[2], struck=True, expected_version=again(decision).seq
    )
    decide(paula, decision)
    runs.drain()
    return exported(decision, to)


def test_a_bundle_verifies_without_a_database(tmp_path: Path) -> None:
    file = an_exported(tmp_path)

    with connection.execute_wrapper(no_query):
        said = manage("verify", "--bundle", str(file))

    assert said.code == 0
    assert "is whole" in said.out


def test_however_it_was_answered_a_bundle_that_nobody_touched_verifies(tmp_path: Path) -> None:
    ann, ben = acting(an_administrator("ann")), acting(somebody("ben"))
    two, glass = asking(quorum=2), asking(quorum=3)
    later = asking(timing=Timing(not_before=timedelta(minutes=1)))
    decide(ben, two), decide(ann, two)
    decide(ben, glass), decide(ann, glass, break_glass=True)
    decide(ben, later)
    ruled, asked = a_decision("refunds", amounts="1"), a_decision("question")
    a_rule()
    ruling.nominate(ruled, now=db_now())
    ruling.answer(ruled.pk)
    decide(ann, asked, "pay_back", fields={"amount": "3"})

    found = {
        one.pk: faults_of(exported(one, tmp_path)) for one in (two, glass, later, ruled, asked)
    }

    ended = [again(one).state for one in (two, glass, later, ruled, asked)]
    assert ended == ["approved", "approved", "open", "approved", "answered"]
    assert not any(found.values()), found


def no_query(*_args: object) -> None:
    raise AssertionError("a bundle is checked without a database")


def test_it_holds_what_was_asked_shown_and_answered(tmp_path: Path) -> None:
    bundle = opened(an_exported(tmp_path))
    with bundle.file:
        (vote,) = bundle.lines("decision_votes.jsonl")
        (record,) = bundle.lines("decision_records.jsonl")
        planned = json.dumps(bundle.lines("planned_calls.jsonl"))

    assert (vote["by"], vote["struck"], record["vote_id"]) == ("paula", "[2]", vote["id"])
    assert "You owe us" in planned


def test_a_changed_byte_anywhere_is_found_and_named(tmp_path: Path) -> None:
    whole = an_exported(tmp_path).read_bytes()
    places = [*range(60), *range(60, len(whole) - 200, 211), *range(len(whole) - 200, len(whole))]
    file, passed = tmp_path / "changed.zip", []

    for place in places:
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        found = faults_of(file)
        if not found or not all(": " in one for one in found):
            passed.append((place, found))

    assert len(places) > 300
    assert passed == []


def test_a_file_that_was_cut_off_is_no_bundle(tmp_path: Path) -> None:
    whole = an_exported(tmp_path).read_bytes()
    file = tmp_path / "cut.zip"

    for length in (0, 1, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        assert faults_of(file), length


Change = Callable[[dict[str, object]], None]
FORGERIES: dict[str, tuple[str, Change, str]] = {
    "who answered": (
        "audit.jsonl",
        lambda row: row.update(actor="somebody else"),
        "audit.jsonl line",
    ),
    "a body in the chain": (
        "audit.jsonl",
        lambda row: row.update(body="{}"),
        "audit.jsonl line",
    ),
    "the page that was shown": (
        "decision_records.jsonl",
        lambda row: row.update(sheet="{}"),
        "decision_records.jsonl line 1: is not the page that was shown",
    ),
    "what was asked": (
        "decisions.jsonl",
        lambda row: row.update(ask=str(row["ask"]).replace("settle", "settled")),
        "decisions.jsonl line 1: the ask",
    ),
    "a planned request": (
        "planned_calls.jsonl",
        lambda row: row.update(evidence="{}"),
        "decisions.jsonl line 1: the calls in planned_calls.jsonl",
    ),
    "a request that was sent": (
        "calls.jsonl",
        lambda row: row.update(request="{}"),
        "calls.jsonl line 1: request",
    ),
    "what became of a call": (
        "calls.jsonl",
        lambda row: row.update(state="refused"),
        "calls.jsonl line 1: is not what the closing line says",
    ),
    "what was answered": (
        "decision_votes.jsonl",
        lambda row: row.update(option="reject"),
        "decision_votes.jsonl line 1: option is not what event",
    ),
    "who voted": (
        "decision_votes.jsonl",
        lambda row: row.update(by="ann"),
        "decision_votes.jsonl line 1: by is not what event",
    ),
    "what was said with it": (
        "decision_votes.jsonl",
        lambda row: row.update(comment="Never looked."),
        "decision_votes.jsonl line 1: comment_digest is not what event",
    ),
    "what was filled in": (
        "decision_votes.jsonl",
        lambda row: row.update(fields='{"amount":9}'),
        "decision_votes.jsonl line 1: the vote is not the one that event",
    ),
    "which call was struck off": (
        "decision_votes.jsonl",
        lambda row: row.update(struck="[1]"),
        "decision_votes.jsonl line 1: the vote is not the one that event",
    ),
    "from where": (
        "decision_votes.jsonl",
        lambda row: row.update(address="192.0.2.7"),
        "decision_votes.jsonl line 1: the vote is not the one that event",
    ),
    "who struck it off": (
        "decision_strikes.jsonl",
        lambda row: row.update(by="ann"),
        "decision_strikes.jsonl: the strikes of decision",
    ),
    "who had read it": (
        "decision_claims.jsonl",
        lambda row: row.update(by="ann"),
        "decision_claims.jsonl: the claims of decision",
    ),
    "past which rules": (
        "decision_votes.jsonl",
        lambda row: row.update(break_glass=True),
        "decision_votes.jsonl line 1: glass_broken is not what event",
    ),
    "how a decision ended": (
        "decisions.jsonl",
        lambda row: row.update(state="expired", option="", approved_digest=""),
        "decisions.jsonl line 1: did not end as",
    ),
    "who ended it": (
        "decisions.jsonl",
        lambda row: row.update(closed_by="ann"),
        "decisions.jsonl line 1: did not end as",
    ),
    "the input": ("run.jsonl", lambda row: row.update(input="{}"), "run.jsonl: the input"),
    "the plan": ("plan.jsonl", lambda row: row.update(body="{}"), "plan.jsonl: is not the plan"),
}


def test_every_forgery_with_its_digests_made_anew_is_named(tmp_path: Path) -> None:
    file, passed = an_exported(tmp_path), {}
    whole = file.read_bytes()

    for what, (part, change, expected) in FORGERIES.items():
        file.write_bytes(whole)
        forge(file, part, change)
        found = faults_of(file)
        if not any(one.startswith(expected) for one in found):
            passed[what] = found

    assert passed == {}


def test_what_the_chain_names_and_was_taken_out_is_missed(tmp_path: Path) -> None:
    file = an_exported(tmp_path)
    whole, said = file.read_bytes(), {}

    for part in ("decision_records.jsonl", "decision_strikes.jsonl", "decision_claims.jsonl"):
        file.write_bytes(whole)
        forge(file, part, None)
        said[part] = " ".join(faults_of(file))

    assert "names is missing" in said["decision_records.jsonl"]
    assert "the strikes of decision" in said["decision_strikes.jsonl"]
    assert "the claims of decision" in said["decision_claims.jsonl"]


def test_an_older_bundle_verifies_and_says_what_it_does_not_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = manage("verify", "--bundle", str(an_exported(tmp_path)))
    monkeypatch.setattr(voting, "bound", lambda _: {})
    decision = a_decision()
    decide(acting(somebody("ann")), decision)

    older = manage("verify", "--bundle", str(exported(decision, tmp_path)))

    assert (new.code, older.code) == (0, 0)
    assert "older release" not in new.out
    assert "1 vote was given under an older release: nothing shows that fields" in older.out


def forge(file: Path, part: str, change: Change | None) -> None:
    """Pack the same again, but for one part that somebody changed, or emptied."""
    copy = file.with_suffix(".copy")
    shutil.copy(file, copy)
    bundle = opened(copy)
    with bundle.file, file.open("w+b") as made:
        packer = Packer(made)
        for name in bundle.names():
            rows = bundle.lines(name)
            if name == part and change is None:
                rows = []
            elif name == part and change is not None:
                for row in rows:
                    change(row)
            packer.lines(name, rows)
        packer.seal(bundle.about)


def test_a_whole_forgery_is_found_by_the_head_that_was_noted(tmp_path: Path) -> None:
    file = an_exported(tmp_path)
    bundle = opened(file)
    with bundle.file:
        head = bundle.about["head"]

    assert faults_of(file, head=head) == []
    assert "you know it to end with" in faults_of(file, head="0" * 64)[0]


def test_the_same_run_makes_the_same_parts_on_the_page(tmp_path: Path) -> None:
    paula = a_person("paula")
    decision = a_decision()
    decide(acting(paula), decision)
    file = exported(decision, tmp_path)

    answer: Any = signed_in(paula).get(f"/runs/{decision.run_id}/bundle.zip")
    other = tmp_path / "other.zip"
    other.write_bytes(b"".join(answer.streaming_content))

    assert faults_of(other) == []
    with zipfile.ZipFile(file) as one, zipfile.ZipFile(other) as two:
        assert one.read("audit.jsonl") == two.read("audit.jsonl")
        assert one.comment.startswith(SEAL)


def test_who_may_not_see_payloads_takes_nothing_away() -> None:
    decision = a_decision()
    looking = signed_in(a_person("vera", permissions=["operate"]))

    assert looking.get(f"/runs/{decision.run_id}/bundle.zip").status_code == 403
