"""A confirmed call that an operator has undone: once, by a call of its own, and it is not sent again."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from runs.definition import Effect, NotSent, Refused, Workflow, registry, step
from runs.engine.faults import Died, Point, dying_at
from runs.ledger import compensating, pausing, replaying, resuming, takeover
from runs.models import AuditEvent, Call, Membership, Run, Wait
from runs.queries.verify import violations
from runs.rules.states import RunState
from runs.rules.undoing import NotConfirmed, why_no_undo
from runs.rules.verbs import NotNow, Stands
from tests.commands.saying import manage
from tests.effects.shop import AT_ONCE, FOR_EVER, Shop, sale
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_desk")]


class Till:
    """A shop, whoever takes back what it sold, and whether the step behind the sale works."""

    def __init__(self, **undo: Any) -> None:
        self.shop, self.back = Shop(), Shop(answers=[{"id": "back-1"}])
        self.works = False
        told = {"reversible": "it is a refund", "contract": FOR_EVER, **undo}
        undo_effect = Effect("shop.take_back", send=self.back.send, **told)
        self.effect = self.shop.sells(reversible=None, compensate=undo_effect)

    def workflow(self) -> type[Workflow]:
        till = self

        class Errand(Workflow):
            """Sell, and then write it down."""

            name, version = "errand", 1

            class Input:
                n: int = 1

            @step(reads=["n"], effects=[till.effect], writes=["sold"])
            def sell(self, run: Any) -> None:
                run.write("sold", sale(run, till.effect)["id"])

            @step(reads=["sold"], writes=["written"], retry=AT_ONCE, on_exhausted="stop")
            def note(self, run: Any) -> None:
                if not till.works:
                    raise OSError("no paper")
                run.write("written", run.read("sold"))

        return Errand


@pytest.fixture
def till() -> Iterator[Till]:
    with registry.isolated():
        made = Till()
        made.workflow()
        yield made


@pytest.fixture
def grave() -> Iterator[Till]:
    """What is taken back cannot be sold again."""
    with registry.isolated():
        made = Till(reversible=None)
        made.workflow()
        yield made


def a_failed_run() -> tuple[UUID, str]:
    run_id = runs.a_run("errand")
    assert runs.work_through(run_id) == "failed"
    return run_id, Call.objects.get(run_id=run_id).key


def undo(run_id: UUID, key: str, **more: Any) -> compensating.Compensating:
    return compensating.compensate(
        runs.the_operator(), run_id, key=key, because="wrong book", **more
    )


def the_undo(run_id: UUID) -> Call:
    return Call.objects.get(run_id=run_id, undoes__isnull=False)


def test_it_is_undone_under_a_key_of_its_own_and_the_run_stands_still(till: Till) -> None:
    """I7"""
    run_id, key = a_failed_run()

    asked = undo(run_id, key)
    assert (asked.state, till.back.heard) == ("queued", [])
    assert runs.work_through(run_id) == "failed"

    made = the_undo(run_id)
    ((sent, request),) = till.back.heard
    assert (sent, made.key, made.state) == (asked.key, asked.key, "confirmed")
    assert (request["key"], request["answer"]) == (key, {"id": "sale-1"})
    sold = Call.objects.get(key=key)
    assert (sold.state, f"undone by {made.key}, person:tests" in sold.source) == ("confirmed", True)
    assert "was undone by shop.take_back, as tests wanted" in runs.the_run(run_id).reason
    kinds = ["call.undo_asked", "call.compensated"]
    assert AuditEvent.objects.filter(run_id=run_id, kind__in=kinds).count() == 2
    with pytest.raises(NotNow, match="undone once"):
        undo(run_id, key)
    assert violations() == []


def test_the_run_goes_on_afterwards_and_nothing_is_undone_or_sold_again(till: Till) -> None:
    run_id, key = a_failed_run()
    undo(run_id, key)
    runs.work_through(run_id)
    till.works = True

    resuming.resume(runs.the_operator(), run_id)
    assert runs.work_through(run_id) == "succeeded"

    assert (len(till.shop.heard), len(till.back.heard)) == (1, 1)
    with pytest.raises(NotNow, match="undone once"):
        undo(run_id, key)
    assert violations() == []


def test_a_replayed_step_that_names_it_is_told_that_it_was_undone(till: Till) -> None:
    """I5"""
    run_id, key = a_failed_run()
    undo(run_id, key)
    runs.work_through(run_id)

    replaying.replay(runs.the_operator(), run_id, checkpoint=0, because="anew")
    assert runs.work_through(run_id) == "failed"

    assert "is not sent again" in runs.the_run(run_id).reason
    assert (len(till.shop.heard), len(till.back.heard)) == (1, 1)
    assert violations() == []


@pytest.mark.parametrize(
    ("came_of_it", "told"),
    [
        (TimeoutError("no answer"), "was undone is in doubt: nobody knows whether shop.take_back"),
        (NotSent("no line"), "is to be undone by shop.take_back, which has not left"),
    ],
)
def test_a_replayed_step_is_not_told_that_it_was_undone_while_nobody_knows(
    came_of_it: Exception, told: str
) -> None:
    """I6"""
    with registry.isolated():
        till = Till(contract=None)
        till.workflow()
        till.back.answers = [came_of_it]
        run_id, key = a_failed_run()
        undo(run_id, key)
        runs.work_through(run_id)

        replaying.replay(runs.the_operator(), run_id, checkpoint=0, because="anew")
        assert runs.work_through(run_id) == "failed"

    assert told in runs.the_run(run_id).reason
    assert "was undone by" not in runs.the_run(run_id).reason
    assert runs.the_step(run_id, "sell").error_class == "UndoUnsettled"
    assert len(till.shop.heard) == 1
    assert violations() == []


@pytest.mark.parametrize(
    "point", ["intent_committed", "result_committed", "compensation_committed"]
)
def test_a_worker_that_dies_over_it_leaves_one_undo(till: Till, point: Point) -> None:
    """I6: and the run stands still, as was said, though its step would work by now."""
    run_id, key = a_failed_run()
    undo(run_id, key)
    till.works = True

    with pytest.raises(Died), dying_at(point):
        runs.drain()
    worker = Run.objects.get(pk=run_id).worker_id
    if worker is not None:
        takeover.take_over(worker, because="its process is gone")
    state = runs.work_through(run_id)

    assert (state, the_undo(run_id).state) == ("failed", "confirmed")
    assert len(till.back.heard) == 1
    assert AuditEvent.objects.filter(run_id=run_id, kind="call.compensated").count() == 1
    assert violations() == []


def test_what_the_receiver_refuses_to_undo_stands_and_is_not_tried_again(till: Till) -> None:
    till.back.answers = [Refused("too late")]
    run_id, key = a_failed_run()

    undo(run_id, key)
    assert runs.work_through(run_id) == "failed"

    assert "was not undone: the receiver refused: too late" in runs.the_run(run_id).reason
    assert AuditEvent.objects.filter(run_id=run_id, kind="call.not_compensated").count() == 1
    with pytest.raises(NotNow, match="refused already"):
        undo(run_id, key)
    assert violations() == []


def test_what_a_paused_run_waits_for_is_waited_for_anew(till: Till) -> None:
    till.works = True
    run_id = runs.a_run("errand")
    pausing.pause(runs.the_operator(), run_id, because="a moment")
    resuming.resume(runs.the_operator(), run_id)
    with pytest.raises(Died), dying_at("finished", step="sell"):
        runs.drain()
    takeover.take_over(Run.objects.get(pk=run_id).worker_id, because="gone")  # type: ignore[arg-type]
    pausing.pause(runs.the_operator(), run_id, because="wrong book")

    undo(run_id, Call.objects.get(run_id=run_id).key)

    assert runs.work_through(run_id) == "failed"
    assert len(till.back.heard) == 1
    assert Wait.objects.filter(run_id=run_id, state="open").count() == 0


@pytest.mark.parametrize("state", list(RunState))
def test_in_which_states_it_can_be_asked_for(state: RunState) -> None:
    stands = Stands(state=state)

    refusal = why_no_undo(stands, call_state="confirmed", declares_one=True)

    assert (refusal == "") == (state in (RunState.FAILED, RunState.PAUSED))
    assert "only a confirmed one" in why_no_undo(stands, call_state="sent", declares_one=True)
    assert "no compensate=" in why_no_undo(stands, call_state="confirmed", declares_one=False)


def somebody(client: Client, *names: str) -> Client:
    """Whoever has these permissions, just signed in."""
    user = User.objects.create_user("omar", password="let me in")
    user.user_permissions.set(Permission.objects.filter(codename__in=names))
    Membership.objects.create(tenant=runs.the_tenant(), user=user)
    client.force_login(user)
    return client


def test_the_page_shows_what_is_sent_and_takes_typed_characters_where_it_is_final(
    grave: Till, client: Client
) -> None:
    run_id, key = a_failed_run()
    page = reverse("runs:undo", args=[run_id, key])
    drawer = reverse("runs:step_show", args=[run_id, "sell"])
    somebody(client, "operate", "decide", "view_payloads")

    assert page in client.get(drawer).text
    shown = client.get(page)
    assert "That cannot be undone" in shown.text
    assert client.post(page, {"because": "wrong"}).status_code == 422
    said = {"because": "wrong", "confirm": "nonono"}
    assert "type the last 6 characters" in client.post(page, said).text
    assert runs.state_of(run_id) == "failed"
    said["confirm"] = key[-6:]
    assert "leaves when a worker has the run" in client.post(page, said, follow=True).text

    assert runs.work_through(run_id) == "failed"
    assert len(grave.back.heard) == 1
    assert page not in client.get(drawer).text
    assert violations() == []


def test_whoever_may_not_decide_does_not_undo_what_is_final(grave: Till, client: Client) -> None:
    run_id, key = a_failed_run()
    page = reverse("runs:undo", args=[run_id, key])

    somebody(client, "operate")

    assert (client.get(page).status_code, client.get(f"{page}x").status_code) == (403, 404)
    assert client.get(page.replace(key, "%00")).status_code == 404
    assert client.post(page, {"because": "x", "confirm": key[-6:]}).status_code == 403


def test_the_command_says_what_it_would_do_and_takes_the_same_confirmation(grave: Till) -> None:
    run_id, key = a_failed_run()
    given = ["runs", "compensate", str(run_id), "--key", key]

    told = manage(*given, "--dry-run", "--json").json
    refused = manage(*given, "--because", "wrong")
    done = manage(*given, "--because", "wrong", "--confirm", key[-6:], "--json").json

    assert told["undo"] == done["undo"]
    assert (told["confirm"], told["irreversible"], told["refusal"]) == (key[-6:], True, "")
    assert (refused.code, "--confirm" in refused.err) == (2, True)
    assert runs.work_through(run_id) == "failed"
    assert manage(*given, "--dry-run").code == 1
    with pytest.raises(NotConfirmed):
        undo(*a_failed_run())
