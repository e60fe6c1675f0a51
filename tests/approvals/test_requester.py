"""Whoever asked for what cannot be undone does not allow it, where somebody else can."""

import json
from datetime import timedelta

import pytest

from approvals.ledger import delegating, grounds, withdrawing
from approvals.models import Vote
from approvals.rules.demands import ConfirmationMissing
from approvals.rules.door import NotYours
from runs.definition import Timing
from runs.ledger import correcting, pausing, replaying, restarting, resuming
from runs.models import AuditEvent, Message
from runs.queries.clock import db_now
from runs.queries.verify import violations
from runs.rules.policy import local_operator
from tests.approvals.agreed import asking, note, somebody
from tests.approvals.builders import a_decision, a_person, acting, again, asked_by, decide
from tests.approvals.reading import at, filled, signed_in, text_of
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_requester_may_not_approve_what_cannot_be_undone_and_reads_who_may() -> None:
    ann, _ben = somebody("ann"), somebody("ben")
    decision = asking(by=ann)

    page = text_of(signed_in(ann).get(at(decision)))
    answer = signed_in(ann).post(at(decision, "answers/"), filled(decision))

    assert "ann asked for this run, so “Approve” takes somebody else. ben may." in page
    assert answer.status_code == 403
    assert again(decision).state == "open"


def test_the_requester_may_still_say_no() -> None:
    ann, _ben = somebody("ann"), somebody("ben")
    decision = asking(by=ann)

    assert decide(acting(ann), decision, "reject").state == "rejected"


def test_somebody_else_may_approve() -> None:
    ann, ben = somebody("ann"), somebody("ben")
    decision = asking(by=ann)

    assert decide(acting(ben), decision).state == "approved"
    assert not Vote.objects.get().alone


def test_whoever_corrected_the_input_asked_for_it_too_and_reads_why() -> None:
    ann, ben, cleo = somebody("ann"), somebody("ben"), somebody("cleo")
    decision = a_decision("payments")
    pausing.pause(acting(ben), decision.run_id, because="a wrong name")
    values = {"text": "overdue"}
    correcting.correct(acting(ben), decision.run_id, values=values, because="as they say")
    resuming.resume(acting(cleo), decision.run_id)
    with pytest.raises(grounds.GroundMoved) as moved:
        decide(acting(ann), decision)

    asked = moved.value.successor
    page = text_of(signed_in(ben).get(at(asked)))
    listed = signed_in(ben).get("/decisions/").text

    why = "ben corrected the input of this run, so “Approve” takes somebody else. ann, cleo may."
    assert why in page
    assert signed_in(ben).post(at(asked, "answers/"), filled(asked)).status_code == 403
    assert "No decisions wait for you." in listed
    assert decide(acting(cleo), asked).state == "approved"


def test_whoever_replayed_it_asked_for_it_too_and_so_did_who_started_it() -> None:
    ann, ben, cleo = somebody("ann"), somebody("ben"), somebody("cleo")
    decision = asking(by=ann)
    replaying.replay(acting(ben), decision.run_id, checkpoint=0, because="once more")
    runs.drain()
    asked = asked_by(decision.run_id)

    with pytest.raises(NotYours, match="ben replayed this run, so “Approve” takes somebody else"):
        decide(acting(ben), asked)
    with pytest.raises(NotYours, match="ann asked for this run, so “Approve” takes somebody else"):
        decide(acting(ann), asked)
    assert decide(acting(cleo), asked).state == "approved"


def test_whoever_restarted_it_asked_for_it_and_so_did_whoever_made_the_run_before() -> None:
    ann, ben, cleo = somebody("ann"), somebody("ben"), somebody("cleo")
    first = asking(by=ann)
    second = restarting.restart(acting(ben), first.run_id, because="from the start")
    runs.drain()
    asked = asked_by(second.id)

    with pytest.raises(NotYours, match="ben restarted this run, so"):
        decide(acting(ben), asked)
    with pytest.raises(NotYours, match="ann asked for the run before this one, so"):
        decide(acting(ann), asked)
    assert decide(acting(cleo), asked).state == "approved"


def test_where_all_who_may_have_asked_for_it_each_is_alone_and_the_record_says_so() -> None:
    ann, ben = somebody("ann"), somebody("ben")
    decision = asking(by=ann)
    replaying.replay(acting(ben), decision.run_id, checkpoint=0, because="once more")
    runs.drain()
    asked = asked_by(decision.run_id)

    page = text_of(signed_in(ben).get(at(asked)))

    assert "Nobody else may answer this. The record will say that you were alone." in page
    assert "ben replayed this run" in page
    assert decide(acting(ben), asked).state == "approved"
    assert Vote.objects.get().alone


def test_who_is_alone_may_and_page_and_audit_say_so() -> None:
    ann = somebody("ann")
    somebody("olga", "bankers")
    decision = asking(by=ann)

    page = text_of(signed_in(ann).get(at(decision)))
    decide(acting(ann), decision)

    closed = AuditEvent.objects.get(run_id=decision.run_id, kind="wait.closed")
    assert "Nobody else may answer this. The record will say that you were alone." in page
    assert json.loads(closed.body)["alone"] is True
    assert "ann, alone: nobody else could have answered" in text_of(
        signed_in(ann).get(at(decision))
    )


def test_what_can_be_undone_the_requester_allows_unless_it_is_declared_otherwise() -> None:
    ann, _ben = somebody("ann"), somebody("ben")
    may = asking(by=ann, effect=note)
    must_not = asking(by=ann, effect=note, four_eyes=True)

    assert decide(acting(ann), may).state == "approved"
    with pytest.raises(NotYours, match="takes somebody else"):
        decide(acting(ann), must_not)


def test_four_eyes_that_are_waived_in_the_plan_are_waived() -> None:
    ann, _ben = somebody("ann"), somebody("ben")

    assert decide(acting(ann), asking(by=ann, four_eyes=False)).state == "approved"


def test_a_lonely_requester_confirms_what_else_takes_no_confirmation() -> None:
    ann, ben = somebody("ann", "lonely"), somebody("ben", "pair")
    hers = asking(by=ann, effect=note, four_eyes=True, groups=["lonely"])
    his = asking(by=ann, effect=note, four_eyes=True, groups=["pair"])

    with pytest.raises(ConfirmationMissing):
        decide(acting(ann), hers, confirm="")

    assert decide(acting(ann), hers).state == "approved"
    assert decide(acting(ben), his, confirm="", comment="").state == "approved"


def test_an_account_of_the_machine_is_the_person_who_signs_in_by_that_name() -> None:
    ann, _ben = somebody("ann"), somebody("ben")
    decision = asking(by=ann)

    with pytest.raises(NotYours, match="takes somebody else"):
        decide(local_operator("local operator ann"), decision)


def test_the_machine_may_where_nobody_or_one_person_may_decide() -> None:
    somebody("ann")

    assert decide(runs.the_operator(), asking()).state == "approved"


def test_the_machine_may_not_approve_its_own_run_where_two_people_may_decide() -> None:
    somebody("ann"), somebody("ben")

    with pytest.raises(NotYours, match="ann, ben may"):
        decide(runs.the_operator(), asking())


def test_an_administrator_breaks_the_glass_and_everybody_is_told() -> None:
    ann, ben = somebody("ann", email="ann@here.test"), somebody("ben", email="ben@here.test")
    ann.is_superuser = True
    ann.save()
    decision = asking(by=ann)
    Message.objects.all().delete()
    client = signed_in(ann)

    page = text_of(client.get(at(decision)))
    answer = client.post(at(decision, "answers/"), filled(decision, break_glass="on"))

    event = AuditEvent.objects.get(run_id=decision.run_id, kind="decision.glass_broken")
    message = Message.objects.get(kind="decision.glass_broken")
    assert "Break the glass: decide alone" in page
    assert answer.status_code == 302
    assert again(decision).state == "approved"
    assert again(decision).because == "By breaking the glass."
    assert (event.actor, json.loads(event.body)["requester"]) == ("ann", "ann")
    assert ben.email in message.payload
    assert Vote.objects.get().break_glass


def test_an_administrator_breaks_the_glass_of_a_quorum_also_after_a_vote() -> None:
    ann = somebody("ann")
    ann.is_superuser = True
    ann.save()
    somebody("ben")
    decision = asking(quorum=3)
    assert not decide(acting(ann), decision).is_final

    decided = decide(acting(ann), decision, break_glass=True)

    assert decided.state == "approved"
    first, last = Vote.objects.order_by("pk")
    assert (first.void_at is None, first.break_glass) == (False, False)
    assert (last.void_at is None, last.break_glass) == (True, True)


def test_an_administrator_in_whose_place_somebody_answered_breaks_the_glass_all_the_same() -> None:
    ann, ben = somebody("ann"), a_person("ben", groups=[], permissions=["view_payloads"])
    ann.is_superuser = True
    ann.save()
    delegating.delegate(acting(ann), to="ben", until=db_now() + timedelta(days=1))
    decision = asking(quorum=3)
    decide(acting(ben), decision)

    decided = decide(acting(ann), decision, break_glass=True)

    assert decided.state == "approved"
    assert Vote.objects.get(by="ben").void_because == "Its voter broke the glass instead."


def test_who_voted_before_does_not_call_off_what_was_decided_past_the_rules() -> None:
    ann, ben = somebody("ann"), somebody("ben")
    ann.is_superuser = True
    ann.save()
    decision = asking(quorum=3, timing=Timing(not_before=timedelta(hours=1)))
    decide(acting(ben), decision)
    waits = decide(acting(ann), decision, break_glass=True)

    withdrawing.withdraw(acting(ben), decision.pk)

    assert again(decision).takes_effect_at == waits.takes_effect_at
    withdrawing.withdraw(acting(ann), decision.pk)
    assert again(decision).takes_effect_at is None
    assert violations([decision.run_id]) == []


def test_nobody_else_breaks_the_glass() -> None:
    ann, _ben = somebody("ann"), somebody("ben")
    decision = asking(by=ann)

    page = text_of(signed_in(ann).get(at(decision)))

    assert "Break the glass" not in page
    with pytest.raises(NotYours, match="Only administrators"):
        decide(acting(ann), decision, break_glass=True)


def test_glass_that_nothing_is_behind_stays_whole() -> None:
    ann = somebody("ann")
    ann.is_superuser = True
    ann.save()

    decide(acting(ann), asking(), break_glass=True)

    assert not Vote.objects.get().break_glass
    assert not AuditEvent.objects.filter(kind="decision.glass_broken").exists()
