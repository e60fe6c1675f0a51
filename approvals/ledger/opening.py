"""A run asks a person: the decision is opened, and told to those who may answer."""

from datetime import timedelta

from approvals.ledger import grounds, noticing, ruling, striking
from approvals.models import Audience, Decision, Requester, Strike
from approvals.rules.asked import Asked, asked_of, digest_of
from approvals.rules.shape import shape_of
from approvals.rules.timing import AskedAgain, timing_of
from runs.definition.gates import OpenedWait
from runs.queries.clock import db_now
from runs.queries.requesters import requesters_of
from runs.rules import canonical
from runs.rules.redaction import redact

# What no clock will close stands behind all that one will, and there in order of its age.
NO_DEADLINE = timedelta(days=36_500)


def open_decision(opened: OpenedWait) -> None:
    """Keep what is asked as it is now; the caller owns the transaction and holds the run."""
    text, now = canonical.dumps(opened.asks), db_now()
    asked = asked_of(text)
    closes = opened.expires_at if opened.on_due != "stay" else None
    decision = Decision.objects.create(
        tenant_id=opened.tenant_id,
        run_id=opened.run_id,
        wait_id=opened.wait_id,
        workflow=opened.workflow,
        step=opened.step,
        generation=opened.generation,
        kind=asked.kind,
        question=redact(asked.question, secrets={}),
        ask=text,
        ask_digest=canonical.digest(text),
        irreversible=asked.irreversible,
        digest=digest_of(text),
        count=asked.plan.count if asked.plan else 0,
        opened_at=now,
        expires_at=opened.expires_at,
        on_expiry=opened.on_due,
        urgent_at=closes or now + NO_DEADLINE,
        shape=shape_of(text, workflow=opened.workflow, step=opened.step),
    )
    _keep_who(decision, asked)
    grounds.keep(decision)
    timing = timing_of(text)
    noticing.plan(decision, timing, now=now)
    if timing.again is not None:
        _strike_as_before(decision, timing.again)
    if ruling.nominate(decision, now=now):
        # A rule is about to answer; should it not, the clock tells people.
        return
    noticing.tell_opened(decision, groups=asked.groups)


def _keep_who(decision: Decision, asked: Asked) -> None:
    """Whose people may answer, and who has a part in what is asked for."""
    groups = sorted(set(asked.groups))
    Audience.objects.bulk_create([Audience(decision=decision, group=name) for name in groups])
    Requester.objects.bulk_create(
        Requester(decision=decision, name=each.name, did=each.did)
        for each in requesters_of(decision.run)
    )


def _strike_as_before(decision: Decision, again: AskedAgain) -> None:
    """What was struck off when the same was approved before stays off, unless it is put back."""
    before = Strike.objects.filter(decision__wait_id=again.wait_id, struck=True)
    ordinals = list(before.values_list("ordinal", flat=True))
    if decision.kind == "plan" and ordinals:
        by = before.values_list("by", flat=True)[0]
        striking.apply(decision, ordinals=ordinals, struck=True, by=by, now=decision.opened_at)
