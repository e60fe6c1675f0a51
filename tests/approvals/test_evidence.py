"""What a decision is decided by: whole or folded with its sizes, redacted, frozen, and asked again."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client

from approvals.ledger import sights
from approvals.ledger.grounds import GroundMoved
from approvals.models import Asking, Decision, Sight, Vote
from approvals.rules.sight import MOST_WHOLE
from runs.definition import Effect, Workflow, registry, step
from runs.ledger import audit
from runs.models import AuditEvent, Call
from runs.queries.clock import db_now
from runs.queries.verify import violations
from runs.rules import canonical
from runs.rules.chain import Draft
from tests.approvals import workflows
from tests.approvals.builders import (
    a_decision,
    a_person,
    acting,
    again,
    asked_by,
    decide,
)
from tests.approvals.errands import World, an_errand
from tests.approvals.reading import at, filled, signed_in, text_of
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)

IBAN = "DE02120300000000202051"
LONG = "x" * 20_000


@pytest.fixture
def world() -> World:
    return World(goes_wrong="silent")


@pytest.fixture(autouse=True)
def _registry() -> Iterator[None]:
    with registry.isolated():
        for made in workflows.made():
            registry.register(made)
        yield


@pytest.fixture
def mara() -> Client:
    return signed_in(a_person("mara"))


def in_doubt(world: World, **errand: Any) -> Decision:
    run_id = runs.a_run(an_errand(world, **errand))
    runs.work_through(run_id)
    return asked_by(run_id)


def asking(evidence: Any, **more: Any) -> Decision:
    """A decision about a question with this evidence."""

    class Asking(Workflow):
        name, version = "asking", 1

        @step(writes=["answer"])
        def ask(self, run: Any) -> None:
            options = {"go": "The order is shipped.", "stay": "It is kept for a week."}
            run.write(
                "answer",
                run.ask("it", question="Shall it go?", options=options, evidence=evidence, **more),
            )

    return a_decision("asking")


def test_an_author_says_what_each_option_does_and_nothing_is_chosen_for_anybody(
    mara: Client,
) -> None:
    page = mara.get(at(asking("a word"))).content.decode()

    assert "The order is shipped. The step goes on with the answer “go”." in page
    assert "It is kept for a week." in page
    assert "checked" not in page.partition('id="answer"')[2].partition("</form>")[0]


@pytest.mark.parametrize(
    ("wrong", "because"),
    [
        ({"options": ()}, "needs options"),
        ({"options": ("yes", "yes")}, "twice"),
        ({"fields": {"amount": "money"}}, "it is one of"),
        ({"fields": {"amount": {"kind": "int"}}}, "a field says"),
        ({"redact": ["a..b"]}, "joined by dots"),
        ({"quorum": 0}, "how many people have to agree: a whole number from 1 to 20"),
        ({"quorum": "two"}, "quorum is 'two'"),
        ({"all_of": "bankers"}, "Write a list"),
        ({"all_of": ["bankers", "bankers"]}, "names a group twice"),
        ({"quorum": 2, "all_of": ["a", "b", "c"]}, "less than the 3 groups of all_of"),
    ],
)
def test_a_question_that_nobody_could_answer_is_refused_to_its_author(
    wrong: dict[str, Any], because: str
) -> None:
    class Wrong(Workflow):
        name, version = "wrong", 1

        @step(writes=["answer"])
        def ask(self, run: Any) -> None:
            run.write("answer", run.ask("it", question="What?", **wrong))

    run_id = runs.a_run("wrong")
    runs.work_through(run_id)

    assert because in runs.the_step(run_id, "ask").error


def test_what_is_long_is_folded_with_its_size_and_nobody_agrees_before_having_it_whole(
    mara: Client,
) -> None:
    decision = asking({"mail": LONG, "then": "the end of it"})

    page = text_of(mara.get(at(decision)))
    taken = mara.post(at(decision, "answers/"), filled(decision, "go"))

    assert "evidence: 16 KB of 20 KB shown" in page
    assert "the end of it" not in page
    assert "See or download the whole first." in page
    assert (taken.status_code, Vote.objects.count()) == (422, 0)


def test_the_whole_is_seen_on_the_page_and_that_is_noted(mara: Client) -> None:
    decision = asking({"mail": LONG, "then": "the end of it"})

    seen = mara.post(at(decision, "sights/"), {"how": "page"}, follow=True)
    taken = mara.post(at(decision, "answers/"), filled(decision, "go"))

    assert "the end of it" in text_of(seen)
    assert "All of it is shown" in text_of(seen)
    assert Sight.objects.get().by == "mara"
    assert (taken.status_code, again(decision).state) == (302, "answered")


def test_nobody_is_noted_to_have_seen_on_a_page_what_fits_none(mara: Client) -> None:
    decision = a_decision(count=MOST_WHOLE + 1)

    seen = mara.post(at(decision, "sights/"), {"how": "page"})

    assert (seen.status_code, Sight.objects.count()) == (400, 0)


def test_the_whole_is_downloaded_with_the_digest_over_the_real_bytes(mara: Client) -> None:
    decision = a_decision("payments", count=120)

    refused = mara.post(at(decision, "answers/"), filled(decision, "approve"))
    file = mara.post(at(decision, "sights/"), {"how": "download"})
    lines = [json.loads(line) for line in b"".join(file).decode().splitlines()]
    taken = mara.post(at(decision, "answers/"), filled(decision, "approve"))

    assert "calls: 100 of 120 shown" in text_of(refused)
    assert (lines[0]["digest"], len(lines)) == (decision.digest, 121)
    assert lines[120]["request"] == {"to": "invoice-120", "amount": 12_000}
    assert taken.status_code == 302


def test_what_ends_the_run_is_taken_from_a_part_too(mara: Client) -> None:
    decision = a_decision("payments", count=120)

    taken = mara.post(at(decision, "answers/"), filled(decision, "reject"))

    assert (taken.status_code, again(decision).state) == (302, "rejected")


def test_what_is_said_twice_is_noted_once_and_looking_notes_nothing(mara: Client) -> None:
    decision = asking({"mail": LONG})
    mara.get(at(decision, "?whole=1"))
    assert not Sight.objects.exists()

    for _ in range(2):
        sights.note(acting(decision_maker()), decision.pk, how="page")

    assert Sight.objects.count() == 1


def decision_maker() -> User:
    return User.objects.get(username="mara")


def test_declared_places_and_known_shapes_are_hidden_in_view_file_and_command_alike(
    mara: Client,
) -> None:
    evidence = {
        "account": {"iban": IBAN, "bank": "first"},
        "rows": [{"iban": IBAN}],
        "note": "use Bearer abcdefghijklmnop to call",
        "password": "hunter22hunter22",
    }
    decision = asking(evidence, redact=["account.iban", "rows.*.iban"])

    page = mara.get(at(decision)).content.decode()
    file = b"".join(mara.post(at(decision, "sights/"), {"how": "download"})).decode()

    for shown in (page, file):
        assert "first" in shown
        for secret in (IBAN, "abcdefghijklmnop", "hunter22hunter22"):
            assert secret not in shown
    assert "account.iban, note, password, rows.0.iban" in text_of(mara.get(at(decision)))
    assert decision.digest == canonical.digest(decision.ask)
    assert IBAN in decision.ask


def test_an_effect_says_what_nobody_is_shown_of_its_requests_and_the_receiver_gets_it_all(
    mara: Client,
) -> None:
    got: list[dict[str, Any]] = []

    def send(request: dict[str, Any], *, key: str, timeout: float) -> dict[str, Any]:
        got.append(request)
        return {"id": "1", "iban": request["iban"]}

    transfer = Effect("bank.pay", send=send, redact=["iban"])

    class Pays(Workflow):
        name, version = "pays", 1

        @step(effects=[transfer])
        def pay(self, run: Any) -> None:
            run.call(transfer, resource="a", request={"iban": IBAN, "amount": 7})

    decision = a_decision("pays")
    page = mara.get(at(decision)).content.decode()
    step_page = mara.get(f"/runs/{decision.run_id}/steps/pay/").content.decode()
    decide(acting(decision_maker()), decision)
    runs.drain()
    after = mara.get(f"/runs/{decision.run_id}/steps/pay/").content.decode()

    assert got == [{"iban": IBAN, "amount": 7}]
    for shown in (page, step_page, after):
        assert IBAN not in shown


def test_a_secret_in_a_reason_reaches_no_audit_event_and_the_chain_still_verifies() -> None:
    run_id = runs.a_run("flaky")
    body = canonical.dumps({"because": "token=abcdef123456", "n": 1})
    told = [Draft(kind="told", body=body)]
    with transaction.atomic():
        audit.append_to_tenant(runs.the_tenant().pk, told, now=db_now(), actor="tests")

    kept = AuditEvent.objects.get(kind="told").body

    assert json.loads(kept) == {"because": "[redacted]", "n": 1}
    assert violations([run_id]) == []


def test_a_receiver_that_has_it_is_asked_about_anew_and_its_answer_supports_one_option(
    world: World, mara: Client
) -> None:
    decision = _in_doubt_with_probe(world)
    world.found = {"id": "ch-55", "amount": 7}

    answer = mara.post(at(decision, "askings/"), follow=True)
    new = asked_by(decision.run_id)
    page = text_of(answer)

    assert (again(decision).state, new.pk != decision.pk) == ("superseded", True)
    assert "the evidence supports this: the receiver has it as ch-55" in page
    assert "asked" in page
    assert "found" in page
    asked = canonical.loads(new.ask)["evidence"]
    assert (asked["probe"], asked["receiver_id"]) == ("found", "ch-55")
    assert (
        "checked" not in answer.content.decode().partition('id="answer"')[2].partition("</form>")[0]
    )
    assert violations([decision.run_id]) == []


def _in_doubt_with_probe(world: World) -> Decision:
    """Its probe fails until a person is asked."""
    world.found = ConnectionError("the look-up is away")
    return in_doubt(world, probe=True, attempts=2)


def test_who_answers_the_old_question_is_told_what_is_new_and_where(
    world: World, mara: Client
) -> None:
    decision = _in_doubt_with_probe(world)
    read = filled(decision, "did_not")
    world.found = {"id": "ch-55"}
    mara.post(at(decision, "askings/"))

    late = mara.post(at(decision, "answers/"), read)

    assert late.status_code == 409
    assert f"/decisions/{asked_by(decision.run_id).pk}/" in late.content.decode()
    assert "Read the new question" in text_of(late)
    assert len(world.sent) == 1


def test_a_probe_that_fails_is_unknown_with_its_time_and_changes_nothing(
    world: World, mara: Client
) -> None:
    decision = _in_doubt_with_probe(world)

    page = text_of(mara.post(at(decision, "askings/"), follow=True))

    assert Asking.objects.get().outcome == "unknown"
    assert "by mara: unknown" in page
    assert "the look-up is away" in page
    assert again(decision).state == "open"


def test_without_a_probe_nobody_can_be_asked_and_the_page_does_not_offer_it(
    world: World, mara: Client
) -> None:
    decision = in_doubt(world)

    page = text_of(mara.get(at(decision)))
    answer = text_of(mara.post(at(decision, "askings/"), follow=True))

    assert "Ask the receiver again" not in page
    assert "declares no probe" in answer


def test_what_changed_under_a_question_answers_409_with_the_difference_and_opens_another(
    world: World, mara: Client
) -> None:
    decision = in_doubt(world)
    read = filled(decision, "did_not")
    _a_late_answer(decision.run_id, decision.tenant_id)

    refused = mara.post(at(decision, "answers/"), read)
    new = asked_by(decision.run_id)

    assert refused.status_code == 409
    assert "answers that came back late" in text_of(refused)
    assert f"/decisions/{new.pk}/" in refused.content.decode()
    assert (again(decision).state, Vote.objects.count(), len(world.sent)) == ("superseded", 0, 1)
    assert violations([decision.run_id]) == []

    decide(acting(decision_maker()), new, "happened", fields={"receiver_id": "ch-1"})
    runs.work_through(decision.run_id)
    assert runs.state_of(decision.run_id) == "succeeded"
    assert violations([decision.run_id]) == []


def test_a_command_is_told_the_same(world: World) -> None:
    decision = in_doubt(world)
    _a_late_answer(decision.run_id, decision.tenant_id)

    with pytest.raises(GroundMoved) as moved:
        decide(acting(a_person("mara")), decision, "did_not")

    assert moved.value.successor == asked_by(decision.run_id)
    assert "0, now 1" in str(moved.value)


def _a_late_answer(run_id: UUID, tenant_id: int) -> None:
    """What a worker that had been replaced has kept as evidence (R25)."""
    key = Call.objects.get(run_id=run_id).key
    body = canonical.dumps({"run": str(run_id), "key": key, "answer": {"id": "ch-1"}, "fence": 1})
    late = Draft(kind="call.late_answer", step="charge", body=body)
    with transaction.atomic():
        audit.append_to_tenant(tenant_id, [late], now=db_now(), actor="a worker")
