"""What the page says that an answer will do is written down first, and then it is what happens."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from runs.definition import registry
from runs.models import Call, Run
from runs.queries.verify import violations
from tests.approvals.builders import a_person, asked_by
from tests.approvals.errands import World, an_errand
from tests.approvals.reading import at, filled, signed_in, text_of
from tests.support import runs

if TYPE_CHECKING:
    from approvals.models import Decision

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(autouse=True)
def _registry() -> Iterator[None]:
    with registry.isolated():
        yield


class Reader:
    """Somebody who reads the page, writes down what an answer will do, and then gives it."""

    def __init__(self, world: World, goes_wrong: str, **errand: Any) -> None:
        self.world, world.goes_wrong = world, goes_wrong
        self.run_id = runs.a_run(an_errand(world, **errand))
        runs.work_through(self.run_id)
        self.decision: Decision = asked_by(self.run_id)
        self.client = signed_in(a_person("mara"))
        self.before = (len(world.sent), len(world.entered))

    def says(self, option: str) -> str:
        """The consequence that stands beside this option, with all that is folded below it."""
        page = self.client.get(at(self.decision)).content.decode()
        own = re.search(
            rf'value="{option}".*?(?=<label class="choice">|</fieldset>)', page, re.DOTALL
        )
        assert own, option
        assert "checked" not in own[0]
        return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", own[0])).replace("&#x27;", "'")

    def chooses(self, option: str, **fields: Any) -> None:
        given = {f"field-{option}-{name}": value for name, value in fields.items()}
        answer = self.client.post(
            at(self.decision, "answers/"), filled(self.decision, option, **given)
        )
        assert answer.status_code == 302, text_of(answer)
        runs.work_through(self.run_id)
        assert violations([self.run_id]) == []

    @property
    def sent(self) -> list[tuple[str, str, Any]]:
        """What left since the page was read."""
        return self.world.sent[self.before[0] :]

    @property
    def entered(self) -> list[str]:
        return self.world.entered[self.before[1] :]

    @property
    def key(self) -> str:
        return self.world.keys[0]

    @property
    def state(self) -> str:
        return runs.state_of(self.run_id)

    def call(self) -> Call:
        return Call.objects.get(run_id=self.run_id, key=self.key)


def test_1_it_happened(world: World) -> None:
    reader = Reader(world, "silent")
    said = reader.says("happened")
    assert "Nothing is sent. Step charge takes the id you enter as the receiver's answer" in said

    reader.chooses("happened", receiver_id="ch-55")

    assert (reader.sent, reader.entered, reader.state) == ([], ["charge", "report"], "succeeded")
    assert runs.facts_of(reader.run_id)["receipt"]["id"] == "ch-55"


def test_2_it_did_not(world: World) -> None:
    reader = Reader(world, "silent")
    said = reader.says("did_not")
    assert f"leaves once more, as sending 2, under the same key {reader.key}" in said

    reader.chooses("did_not")

    assert [key for key, _, _ in reader.sent] == [reader.key]
    assert (reader.call().sends, reader.state) == (2, "succeeded")


def test_3_compensate(world: World) -> None:
    reader = Reader(world, "silent", undo=True)
    said = reader.says("compensate")
    assert "shop.refund is sent, under a key of its own" in said
    assert "recorded as abandoned, and the run stops as failed in step charge" in said

    reader.chooses("compensate")

    assert [what for _, what, _ in reader.sent] == ["refund"]
    assert reader.sent[0][0] != reader.key
    assert (reader.call().state, reader.state) == ("abandoned", "failed")


def test_4_replay_of_a_call_in_doubt(world: World) -> None:
    reader = Reader(world, "silent")
    said = reader.says("replay")
    assert (
        "From the start (0): Done again: gather. Done again, and asks a person: charge. Then, for "
        "the first time: report. Same keys for the same calls. 1 call: a person is asked whether it "
        "happened." in said
    )

    reader.chooses("replay", checkpoint="0")

    assert (reader.sent, reader.entered) == ([], ["gather", "charge"])
    assert asked_by(reader.run_id).kind == "reconcile"
    assert Call.objects.filter(run_id=reader.run_id).count() == 1


def test_5_restart_of_a_call_in_doubt(world: World) -> None:
    reader = Reader(world, "silent")
    said = reader.says("restart")
    assert f"The call under key {reader.key} is recorded as abandoned" in said
    assert "1 call: sent a second time, under a new key." in said

    reader.chooses("restart")
    new = Run.objects.get(restart_of_id=reader.run_id)

    assert (reader.state, reader.call().state) == ("superseded", "abandoned")
    assert [what for _, what, _ in reader.sent] == ["charge"]
    assert reader.sent[0][0] != reader.key
    assert (reader.entered, new.state) == (["gather", "charge", "report"], "succeeded")


def test_6_stop(world: World) -> None:
    reader = Reader(world, "silent")
    said = reader.says("stop")
    assert "Nothing is sent. The run stops as failed in step charge" in said

    reader.chooses("stop")

    assert (reader.sent, reader.entered, reader.state) == ([], [], "failed")
    assert reader.call().state == "ambiguous"


def test_7_try_again(world: World) -> None:
    reader = Reader(world, "fails")
    said = reader.says("again")
    assert (
        "with the same keys for the same calls. 1 call already answered is not sent again" in said
    )
    assert "Kept: gather." in said

    reader.chooses("again")

    assert (reader.sent, reader.entered, reader.state) == ([], ["charge", "report"], "succeeded")


def test_8_correct_the_input(world: World) -> None:
    reader = Reader(world, "fails")
    said = reader.says("correct")
    assert "gather read it before and stay as they are" in said
    assert "Then: Step charge is entered again" in said

    reader.chooses("correct", amount="9")

    asked = asked_by(reader.run_id)
    assert (reader.sent, reader.entered) == ([], ["charge"])
    assert asked.kind == "conflict"
    assert runs.facts_of(reader.run_id)["gathered"] == 7


def test_9_skip(world: World) -> None:
    reader = Reader(world, "fails")
    said = reader.says("skip")
    assert "Step charge is not done, and recorded as skipped" in said
    assert "1 call of it stays as answered. The run goes on with report." in said

    reader.chooses("skip")

    assert (reader.sent, reader.entered, reader.state) == ([], ["report"], "succeeded")
    assert runs.the_step(reader.run_id, "charge").state == "skipped"


def test_10_cancel(world: World) -> None:
    reader = Reader(world, "fails")
    said = reader.says("cancel")
    assert "The run ends as cancelled in step charge and never changes again." in said
    assert "What gather did stays. Nothing more is sent." in said

    reader.chooses("cancel")

    assert (reader.sent, reader.entered, reader.state) == ([], [], "cancelled")


def test_11_the_first_of_two_requests(world: World) -> None:
    reader = Reader(world, "changes its mind", attempts=2)
    said = reader.says("keep_first")
    assert "The new request is not sent." in said
    assert "The step goes on with the first request and its known answer." in said

    reader.chooses("keep_first")

    assert (reader.sent, reader.entered, reader.state) == ([], ["charge", "report"], "succeeded")
    assert runs.facts_of(reader.run_id)["receipt"]["id"] == "ch-1"


def test_12_the_new_one_as_well(world: World) -> None:
    reader = Reader(world, "changes its mind", attempts=2)
    said = reader.says("send_new")
    assert "The new request is sent as a call of its own, for the resource order-1 #" in said

    reader.chooses("send_new")

    named = re.search(r"order-1 #[0-9a-f]+", said)
    assert named
    assert [request for _, _, request in reader.sent] == [{"amount": 8}]
    assert Call.objects.get(run_id=reader.run_id, resource=named[0]).key == reader.sent[0][0]
    assert (reader.call().state, reader.state) == ("confirmed", "succeeded")


def test_13_a_refusal_is_reopened(world: World) -> None:
    reader = Reader(world, "refused")
    said = reader.says("reopen")
    assert f"The same request is sent again under the same key {reader.key}." in said

    reader.chooses("reopen")

    assert [key for key, _, _ in reader.sent] == [reader.key]
    assert (reader.call().state, reader.state) == ("confirmed", "succeeded")
