"""A step that a person has skipped stays skipped: in a restart behind it, and under another version."""

from uuid import UUID

import pytest

from runs.definition import Migrated, Position, Retry, Run
from runs.ledger import restarting
from runs.models import Call, Step
from runs.queries.verify import violations
from runs.rules.verbs import NotNow
from tests.operating import releases
from tests.operating.releases import ENTERED, S, go_on, posting, release, writing
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_desk")]


def out_of_paint(run: Run) -> None:
    raise RuntimeError("out of paint")


def painting(**more: object) -> S:
    declares = {"reads": ["n"], "writes": ["painted"], "retry": Retry(attempts=1), **more}
    return S(name="paint", does=out_of_paint, declares=declares)


FIRST, THIRD, FOURTH = (
    writing("weigh", "weight"), writing("pack", "box"), writing("label", "label"),
)  # fmt: skip
STEPS = [FIRST, painting(may_skip=True), THIRD, FOURTH]


@pytest.fixture(autouse=True)
def _empty() -> None:
    ENTERED.clear()


def skipped(*, until: str) -> UUID:
    """A run that has passed over its second step, and been handed back right before this one."""
    run_id = runs.a_run(releases.NAME)
    runs.drain()
    runs.answer(run_id, "skip")
    with runs.a_worker() as worker:
        while runs.the_run(run_id).step != until:
            before = len(ENTERED)
            worker.drain_placed(until=float("inf"), stop=lambda: len(ENTERED) > before)  # noqa: B023
            assert len(ENTERED) < 20
    return run_id


def test_a_restart_behind_it_begins_at_the_step_that_follows() -> None:
    with release((1, STEPS)):
        old = skipped(until="label")
        behind = runs.the_run(old).checkpoint

        new = restarting.restart(runs.the_operator(), old, because="tests", checkpoint=behind).id
        runs.drain()

    assert ENTERED == ["weigh", "paint", "pack", "label"]
    assert (runs.state_of(new), runs.the_step(new, "paint").state) == ("succeeded", "skipped")
    assert violations([old, new]) == []


def test_a_newer_version_neither_does_it_nor_what_followed_it_again() -> None:
    """I2"""
    with release((1, STEPS)):
        run_id = skipped(until="label")

    with release((2, [*STEPS, writing("bill", "bill")])):
        go_on()

    assert ENTERED == ["weigh", "paint", "pack", "label", "bill"]
    assert (runs.state_of(run_id), runs.the_run(run_id).version) == ("succeeded", 2)
    assert violations([run_id]) == []


def test_a_migration_takes_it_along_as_skipped() -> None:
    def to_v2(facts: dict[str, object], at: Position) -> Migrated:
        return Migrated(facts=facts, at=at)

    with release((1, STEPS)):
        run_id = skipped(until="label")

    packed = writing("wrap_up", "box", was="pack")
    renamed = painting(may_skip=True, was="paint")
    renamed = S(name="varnish", does=renamed.does, declares=renamed.declares)
    with release((2, [FIRST, renamed, packed, FOURTH]), migrations={1: to_v2}):
        go_on()

    assert ENTERED == ["weigh", "paint", "pack", "label"]
    assert (runs.state_of(run_id), runs.the_run(run_id).generation) == ("succeeded", 2)
    steps = Step.objects.filter(run_id=run_id, superseded=False).order_by("ordinal")
    assert [(step.key, step.state) for step in steps][1:3] == [
        ("varnish", "skipped"), ("wrap_up", "succeeded"),
    ]  # fmt: skip
    assert violations([run_id]) == []


def test_a_version_in_which_it_may_not_be_skipped_asks() -> None:
    with release((1, STEPS)):
        run_id = skipped(until="label")

    with release((2, [FIRST, painting(), THIRD, FOURTH])):
        go_on()

    assert releases.asked(run_id) is not None
    assert violations([run_id]) == []


def test_a_call_in_doubt_keeps_it_from_being_skipped_under_another_name_too() -> None:
    """I6: the scope of a call outlives the name of its step."""

    def does(run: Run) -> None:
        raise RuntimeError("the post is shut")

    declares = {**posting("post").declares, "retry": Retry(attempts=1), "may_skip": True}
    with release((1, [FIRST, S(name="post", does=does, declares=declares), FOURTH])):
        run_id = runs.a_run(releases.NAME)
        runs.drain()
        run = runs.the_run(run_id)
        Call.objects.create(
            run=run, key="k", step="mail", scope="post", effect="post.send", resource="parcel",
            request="{}", request_digest="d", attempt=1, fence=run.fence, state="ambiguous",
            irreversible=False, intended_at=run.created_at, sent_at=run.created_at,
        )  # fmt: skip

        with pytest.raises(NotNow, match="Nobody knows"):
            runs.answer(run_id, "skip")
