"""Who is away lets somebody answer in their place, until a day that is named, and everybody sees it."""

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import IntegrityError

from approvals.ledger import delegating
from approvals.ledger.delegating import DelegationRefused
from approvals.models import Delegation, Vote
from approvals.queries.mine import is_for
from approvals.queries.visible import open_decisions
from approvals.rules.door import NotYours
from runs.models import AuditEvent
from runs.queries.clock import db_now
from runs.queries.verify import violations
from runs.rules.policy import NotAllowed
from tests.approvals.agreed import asking, somebody
from tests.approvals.builders import a_person, acting, again, decide
from tests.approvals.reading import at, signed_in, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def delegated(by: User, receiver: User, *, days: float = 7, **more: Any) -> Delegation:
    return delegating.delegate(
        acting(by), to=receiver.username, until=db_now() + timedelta(days=days), **more
    )


def past(delegation: Delegation) -> None:
    """Its end has come."""
    now = db_now()
    Delegation.objects.filter(pk=delegation.pk).update(
        since=now - timedelta(days=2), until=now - timedelta(seconds=1)
    )


def is_yours(person: User) -> bool:
    return open_decisions(acting(person)).filter(is_for(acting(person))).exists()


def test_the_receiver_answers_in_the_givers_place_and_the_record_names_both() -> None:
    ann, zoe = somebody("ann"), a_person("zoe", groups=[], permissions=["view_payloads"])
    delegated(ann, zoe)
    decision = asking()

    page = text_of(signed_in(zoe).get(at(decision)))
    decide(acting(zoe), decision)

    vote = Vote.objects.get()
    closed = AuditEvent.objects.get(run_id=decision.run_id, kind="wait.closed")
    assert "You answer in the place of ann, who delegated this to you until" in page
    assert (vote.by, vote.on_behalf_of, vote.voice_id) == ("zoe", "ann", ann.pk)
    assert again(decision).because == "In the place of ann, who had delegated it."
    assert json.loads(closed.body)["in_place_of"] == "ann"
    assert "zoe, in the place of ann" in text_of(signed_in(zoe).get(at(decision)))


def test_it_is_over_at_its_end_and_when_it_is_taken_back() -> None:
    ann, zoe = somebody("ann"), somebody("zoe", "bankers")
    decision = asking()
    first = delegated(ann, zoe)
    before = is_yours(zoe)
    past(first)
    second = delegated(ann, zoe)
    delegating.end(acting(ann), second.pk)

    with pytest.raises(NotYours, match="in none of its groups"):
        decide(acting(zoe), decision)

    assert before
    assert not is_yours(zoe)


def test_it_hands_on_no_more_than_the_giver_has_today() -> None:
    ann, zoe = somebody("ann"), somebody("zoe", "bankers")
    delegated(ann, zoe)
    decision = asking()
    ann.groups.clear()

    with pytest.raises(NotYours):
        decide(acting(zoe), decision)
    assert not is_yours(zoe)


def test_one_group_alone_can_be_handed_on() -> None:
    ann, zoe = somebody("ann", "approvers", "legal"), somebody("zoe", "bankers")
    delegated(ann, zoe, group="legal")

    with pytest.raises(NotYours):
        decide(acting(zoe), asking())
    assert decide(acting(zoe), asking(groups=["legal"])).state == "approved"


def test_giver_and_receiver_together_are_one_voice_of_a_quorum() -> None:
    ann, zoe = somebody("ann"), somebody("zoe", "bankers")
    delegated(ann, zoe)
    decision = asking(quorum=2)
    decide(acting(zoe), decision)

    with pytest.raises(NotYours, match="zoe has answered in this place"):
        decide(acting(ann), decision)

    assert not is_yours(ann)
    assert not Vote.objects.exclude(by="zoe").exists()
    with pytest.raises(IntegrityError):
        Vote.objects.create(
            decision=decision, by="ann", user=ann, voice=ann, option="approve",
            digest=decision.digest, alone=False, door="test", at=db_now(),
        )  # fmt: skip


def test_the_requesters_place_is_the_requesters() -> None:
    ann, _ben, zoe = somebody("ann"), somebody("ben"), somebody("zoe", "bankers")
    delegated(ann, zoe)

    with pytest.raises(NotYours, match="ann asked for this run"):
        decide(acting(zoe), asking(by=ann))
    with pytest.raises(NotYours, match="zoe asked for this run"):
        decide(acting(zoe), asking(by=zoe))


def test_a_delegation_is_not_handed_on() -> None:
    ann, zoe, yan = somebody("ann"), somebody("zoe", "bankers"), somebody("yan", "bankers")
    delegated(ann, zoe)
    delegated(zoe, yan)

    with pytest.raises(NotYours):
        decide(acting(yan), asking())


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"to": "nobody"}, "no active person"),
        ({"to": "ann"}, "not for oneself"),
        ({"days": -1}, "Name an end within"),
        ({"days": 400}, "Name an end within"),
        ({"group": "bankers"}, "ann is not in “bankers”"),
    ],
)
def test_what_cannot_be_handed_on_is_refused_with_the_reason(
    wish: dict[str, Any], said: str
) -> None:
    ann, _zoe = somebody("ann"), somebody("zoe")
    until: Any = db_now() + timedelta(days=wish.pop("days", 7))

    with pytest.raises(DelegationRefused, match=said):
        delegating.delegate(acting(ann), **({"to": "zoe", "until": until} | wish))

    assert not Delegation.objects.exists()


def test_only_administrators_hand_on_what_is_somebody_elses() -> None:
    ann, ben, zoe = somebody("ann"), somebody("ben"), somebody("zoe", "bankers")
    made = delegated(ann, zoe)

    with pytest.raises(NotAllowed):
        delegated(ben, zoe, giver="ann")
    with pytest.raises(NotAllowed):
        delegating.end(acting(ben), made.pk)
    delegating.end(acting(zoe), made.pk)
    with pytest.raises(DelegationRefused, match="over already"):
        delegating.end(acting(ann), made.pk)


def test_making_and_ending_are_told_in_the_tenants_audit() -> None:
    ann, zoe = somebody("ann"), somebody("zoe", "bankers")
    delegating.end(acting(ann), delegated(ann, zoe, because="Away.").pk)

    told = AuditEvent.objects.filter(run=None).order_by("seq")
    assert [event.kind for event in told] == ["delegation.made", "delegation.ended"]
    assert violations() == []


def test_the_page_makes_lists_and_ends_them() -> None:
    ann, zoe = somebody("ann"), somebody("zoe", "bankers")
    client = signed_in(ann)
    until = (db_now() + timedelta(days=3)).date().isoformat()

    empty = text_of(client.get("/delegations/"))
    made = client.post("/delegations/", {"giver": "ann", "to": "zoe", "until": until}, follow=True)
    listed = text_of(signed_in(zoe).get("/delegations/"))
    ended = client.post(f"/delegations/{Delegation.objects.get().pk}/end/", follow=True)
    wrong = client.post("/delegations/", {"giver": "ann", "to": "zoe", "until": "2020-01-01"})
    others = client.post("/delegations/", {"giver": "zoe", "to": "ann", "until": until})

    assert "Nobody answers in anybody" in empty
    assert "zoe answers in the place of ann for each of their groups until" in text_of(made)
    assert "UTC, over" not in text_of(made)
    assert "End it now" in listed
    assert "It opens nothing any more." in text_of(ended)
    assert "ended by ann" in text_of(ended)
    assert (wrong.status_code, others.status_code) == (422, 422)
    assert Delegation.objects.count() == 1


def test_another_tenants_delegation_does_not_exist() -> None:
    ann, zoe = somebody("ann", tenant="elsewhere"), somebody("zoe", tenant="elsewhere")
    made = delegated(ann, zoe, tenant="elsewhere")
    mara = signed_in(a_person("mara"))

    assert "zoe" not in text_of(mara.get("/delegations/"))
    assert mara.post(f"/delegations/{made.pk}/end/").status_code == 404


def said(*arguments: object) -> str:
    out = StringIO()
    call_command("delegations", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_the_command_does_the_same() -> None:
    somebody("ann"), somebody("zoe", "bankers")
    until = (db_now() + timedelta(days=3)).date().isoformat()

    made = json.loads(said("add", "zoe", "--for", "ann", "--until", until, "--json"))
    listed = json.loads(said("list", "--json"))["delegations"]
    ended = said("end", made["id"], "--as", "zoe")
    with pytest.raises(CommandError) as refused:
        said("add", "zoe", "--for", "ann", "--until", "2020-01-01")

    assert (made["giver"], made["receiver"], made["running"]) == ("ann", "zoe", True)
    assert [one["id"] for one in listed] == [made["id"]]
    assert "ended by zoe" in ended
    assert refused.value.returncode == 2
    assert said("list").strip() == "Nobody answers in anybody's place."
