"""What a certificate says of schedules, and what verify finds when their rows are damaged."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from runs.definition import registry
from runs.ledger import certificates
from runs.models import Firing, Run, Schedule
from runs.queries.verify import violations
from runs.rules.certificate import Answer, Certificate
from tests.schedules.builders import a_schedule, fire, let_it_be_due
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_known")]


def certified() -> Certificate:
    return certificates.certify(runs.the_operator(), registry.latest("sync"))


def told(certificate: Certificate, question: str) -> str:
    return "\n".join(
        each.text
        for asked in certificate.questions
        if asked.id == question
        for each in asked.evidence
    )


def test_without_a_schedule_overlap_is_decided_by_what_cannot_be_made() -> None:
    runs.the_tenant()

    assert "none is made without an overlap policy" in told(certified(), "policies")


def test_each_schedule_speaks_for_overlap_and_for_scheduling() -> None:
    schedule = a_schedule(overlap="queue_one")
    let_it_be_due(schedule)
    fire()

    certificate = certified()

    assert "schedule nightly says queue_one" in told(certificate, "policies")
    assert "1 due time of it has one row" in told(certificate, "scheduling")
    assert "1 run came of them" in told(certificate, "scheduling")


def test_a_schedule_that_would_be_refused_now_fails_the_question() -> None:
    schedule = a_schedule()
    Schedule.objects.filter(pk=schedule.pk).update(input='{"colour": "red"}')

    answers = {asked.id: asked.answer for asked in certified().questions}

    assert answers["policies"] is Answer.FAIL


def a_run_without_its_firing(schedule: Schedule) -> None:
    Firing.objects.filter(schedule=schedule).delete()


def a_firing_of_another_run(schedule: Schedule) -> None:
    Firing.objects.filter(schedule=schedule).update(run=runs.a_run("sync"))


def a_next_time_that_went_back(schedule: Schedule) -> None:
    back = Firing.objects.get(schedule=schedule).nominal_at
    Schedule.objects.filter(pk=schedule.pk).update(next_at=back, due_at=back)


def a_due_time_too_early(schedule: Schedule) -> None:
    now = Schedule.objects.get(pk=schedule.pk)
    assert now.next_at is not None
    Schedule.objects.filter(pk=schedule.pk).update(due_at=now.next_at - timedelta(seconds=1))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (a_run_without_its_firing, "no firing names it"),
        (a_firing_of_another_run, "started for something else"),
        (a_next_time_that_went_back, "ahead of its next time"),
        (a_due_time_too_early, "not due at its next time"),
    ],
)
def test_verify_finds(damage: Callable[[Schedule], None], said: str) -> None:
    schedule = a_schedule()
    let_it_be_due(schedule)
    fire()
    assert violations() == []

    damage(schedule)

    assert any(said in found.text for found in violations())
    assert Run.objects.exists()
