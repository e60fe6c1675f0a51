"""What the door needs to know of a decision, read for one actor."""

from collections.abc import Iterable
from datetime import datetime

from approvals import models
from approvals.models import Decision, Vote
from approvals.queries.delegations import handed_to
from approvals.queries.people import deciders
from approvals.queries.visible import groups_of
from approvals.rules.asked import Asked, asked_of
from approvals.rules.case import Case, Cast, Requester
from approvals.rules.quorum import Tally, tally
from runs.queries.requesters import starter_of
from runs.rules import canonical
from runs.rules.policy import Actor

MOST_PEOPLE = 50


def case_of(actor: Actor, decision: Decision, *, now: datetime, but: Vote | None = None) -> Case:
    """As it is now; without the vote `but`, which is being given."""
    groups = groups_of(decision)
    people = deciders(tenant_id=decision.tenant_id, groups=groups)
    handed = handed_to(actor, now=now, tenant_id=decision.tenant_id)
    return Case(
        groups=groups,
        asked=asked_of(decision.ask),
        requesters=requesters_of(decision),
        people=tuple(people.values_list("username", flat=True)[:MOST_PEOPLE]),
        votes=tuple(cast_of(vote) for vote in counting(decision) if vote != but),
        stand_ins=tuple(each.stand_in for each in handed),
    )


def requesters_of(decision: Decision) -> tuple[Requester, ...]:
    """Who started the run, and who else had made it what it is when this was asked."""
    started = starter_of(decision.run)
    rows = models.Requester.objects.filter(decision=decision).order_by("pk")
    return (
        Requester(name=started.name, did=started.did),
        *(Requester(name=name, did=did) for name, did in rows.values_list("name", "did")),
    )


def counting(decision: Decision) -> list[Vote]:
    """The votes that count, in the order in which they came."""
    return list(Vote.objects.filter(decision=decision, void_at__isnull=True).order_by("pk"))


def cast_of(vote: Vote) -> Cast:
    return Cast(
        by=vote.by,
        user_id=vote.user_id,
        voice_id=vote.voice_id,
        option=vote.option,
        fields=vote.fields,
        digest=vote.digest,
        groups=frozenset(canonical.loads(vote.groups)),
        on_behalf_of=vote.on_behalf_of,
        at=vote.at,
    )


def tally_with(asked: Asked, casts: Iterable[Cast], *, like: Cast | None) -> Tally:
    """What the votes come to that say the same as this one, of the same bytes (R16)."""
    same = [each.groups for each in casts if like is not None and each.says_the_same_as(like)]
    return tally(quorum=asked.quorum, all_of=asked.all_of, votes=same)


def come_to_so_far(case: Case) -> Tally:
    """What the answer comes to that is nearest to its end."""
    tallies = [tally_with(case.asked, case.votes, like=vote) for vote in case.votes]
    nothing = tally_with(case.asked, (), like=None)
    return min(tallies, key=lambda each: each.more, default=nothing)
