"""Damage to what a run has called and what allowed it: calls, approvals, planned calls."""

from typing import Any

from runs.models import AuditEvent, Call, PlannedCall, Wait
from tests.durability.worlds import Damage, World, replace, waits, without_check


def calls(world: World, **which: Any) -> Any:
    return Call.objects.filter(run=world.whole, **which)


def planned(world: World, **which: Any) -> Any:
    return PlannedCall.objects.filter(run=world.whole, **which)


def forget_the_authority(world: World) -> None:
    with without_check("runs_call", "irreversible_call_has_an_authority"):
        calls(world, resource="paper").update(authority="")


def forget_the_answer(world: World) -> None:
    with without_check("runs_call", "confirmed_call_keeps_its_answer"):
        calls(world, resource="paper").update(answer=None)


def approve_the_wrong_wait(world: World) -> None:
    other = Wait.objects.get(run=world.whole, name="ask colour")
    calls(world, resource="paper").update(authority=f"decision:{other.pk}")


CALLS = [
    Damage(
        sentence="the request of a call is changed",
        do=lambda w: calls(w, resource="paper").update(request='{"sheets":30}'),
        invariant="I4",
        says="The request of mp_.* is not what its digest covers",
    ),
    Damage(
        sentence="a call has another key than its bytes make",
        do=lambda w: calls(w, resource="paper").update(resource="cardboard"),
        invariant="I4",
        says="The call mp_.* of shop.burn for cardboard makes the key mp_",
    ),
    Damage(
        sentence="no event says that a call was intended",
        do=lambda w: AuditEvent.objects.filter(run=w.whole, kind="call.intended").delete(),
        invariant="I4",
        says="0 audit events say that mp_.* was intended",
    ),
    Damage(
        sentence="a call was sent again and nobody said why",
        do=lambda w: calls(w, resource="paper").update(sends=2),
        invariant="I6",
        says="was sent 2 times; the audit says why 1",
    ),
    Damage(
        sentence="the answer of a call is changed",
        do=lambda w: calls(w, resource="paper").update(answer='{"id":"another"}'),
        invariant="I5",
        says="The answer of mp_.* is not what its digest covers",
    ),
    Damage(
        sentence="a confirmed call has lost its answer",
        do=forget_the_answer,
        invariant="I5",
        says="mp_.* is confirmed and keeps no answer",
    ),
    Damage(
        sentence="a refused call is not settled",
        do=lambda w: calls(w, resource="paper").update(state="refused", settled_at=None),
        invariant="I5",
        says="mp_.* is refused and not settled",
    ),
    Damage(
        sentence="a finished step leaves a call of which nobody knows whether it happened",
        do=lambda w: calls(w, resource="paper").update(state="ambiguous"),
        invariant="I6",
        says="Step burn_one is finished, and mp_.* is still ambiguous",
    ),
    Damage(
        sentence="a finished step leaves a call that no checkpoint accepted",
        do=lambda w: calls(w, resource="paper").update(checkpoint=None),
        invariant="R2",
        says="Step burn_one is finished, and no checkpoint of it accepted mp_",
    ),
    Damage(
        sentence="a call is accepted by a checkpoint that is not there",
        do=lambda w: calls(w, resource="paper").update(checkpoint=99),
        invariant="I8",
        says=r"Calls name checkpoints that are not there: \[99\]",
    ),
    Damage(
        sentence="a call is of an effect that its step does not declare",
        do=lambda w: calls(w, resource="paper").update(step="judge"),
        invariant="I4",
        says="Step judge of the plan does not declare shop.burn",
    ),
    Damage(
        sentence="a call that cannot be undone is said to be harmless",
        do=lambda w: calls(w, resource="paper").update(irreversible=False),
        invariant="I7",
        says="mp_.* and its plan disagree on what can be undone",
    ),
]

APPROVALS = [
    Damage(
        sentence="nothing allows a call that cannot be undone",
        do=forget_the_authority,
        invariant="I7",
        says="mp_.* cannot be undone, and nothing allows it",
    ),
    Damage(
        sentence="the decision that allowed a call is gone",
        do=lambda w: calls(w, resource="paper").update(authority="decision:999999"),
        invariant="I7",
        says="names a decision that this run does not have",
    ),
    Damage(
        sentence="the decision that allowed a call expired",
        do=lambda w: waits(w, step="burn_one").update(state="expired"),
        invariant="I7",
        says=r"names the decision \d+, which is a expired decision",
    ),
    Damage(
        sentence="the decision that allowed a call was a rejection",
        do=lambda w: replace(waits(w, step="burn_one"), "answer", "approve", "reject"),
        invariant="I7",
        says="which was answered “reject”",
    ),
    Damage(
        sentence="the decision that allowed a call was about something else",
        do=approve_the_wrong_wait,
        invariant="I7",
        says="which was answered “blue”",
    ),
    Damage(
        sentence="a call approved alone was shown with other bytes",
        do=lambda w: calls(w, resource="paper").update(request='{"sheets":30}'),
        invariant="I7",
        says=r"mp_.* is not what the decision \d+ showed",
    ),
    Damage(
        sentence="a call was struck off the list and made all the same",
        do=lambda w: calls(w, effect="shop.pay", resource="2").update(resource="3"),
        invariant="I7",
        says="mp_.* is not among the calls that were approved",
    ),
    Damage(
        sentence="the list was changed after it was approved",
        do=lambda w: planned(w, resource="1").update(evidence='["changed"]'),
        invariant="I7",
        says="which was shown another list of calls than the one kept",
    ),
    Damage(
        sentence="the approval names other calls as struck off",
        do=lambda w: replace(waits(w, step="purchase"), "answer", '"struck":[4]', '"struck":[2]'),
        invariant="I7",
        says="which approved another list of calls than what is left of the plan",
    ),
    Damage(
        sentence="a waiver is not the one in the plan",
        do=lambda w: calls(w, resource="card").update(authority="waiver:I felt like it"),
        invariant="I7",
        says="mp_.* names a waiver that its plan does not hold",
    ),
    Damage(
        sentence="the evidence of a planned call is changed",
        do=lambda w: planned(w, resource="1").update(evidence='["changed"]'),
        invariant="R3",
        says="Call 2 of the plan “payments” is not what its digest covers",
    ),
    Damage(
        sentence="a planned call is deleted",
        do=lambda w: planned(w, resource="1").delete(),
        invariant="R3",
        says="Call 2 of the plan “payments” is missing",
    ),
    Damage(
        sentence="the sealed list is shorter than it was",
        do=lambda w: planned(w, resource="4").delete(),
        invariant="R3",
        says="The plan “payments” is not the list of calls that step propose sealed",
    ),
]

DAMAGES = [*CALLS, *APPROVALS]
