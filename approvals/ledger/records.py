"""The page that somebody answered is kept as it was shown, in the transaction of the answer."""

from approvals.models import Decision, Record, Vote
from approvals.queries.recorded import sheet_of
from runs.ledger.guards import keep_append_only
from runs.rules import canonical
from runs.rules.policy import Actor

SAME = [
    "decision_id",
    "by",
    "option",
    "fields",
    "comment",
    "digest",
    "struck",
    "alone",
    "door",
    "at",
]


def guard() -> None:
    """Records never change; of a vote only whether it counts, and whose account it was."""
    keep_append_only("approvals_record", because="I13: what was shown is kept as it was")
    same = " AND ".join(f'NEW."{column}" = OLD."{column}"' for column in SAME)
    keep_append_only("approvals_vote", because="I13: a vote is never rewritten", but_for=same)


def keep(actor: Actor, decision: Decision, vote: Vote) -> str:
    """The digest of what is kept, for the audit; the caller owns the transaction, and the decision
    is still as it was shown."""
    sheet = canonical.dumps(sheet_of(actor, decision, but=vote))
    digest = canonical.digest(sheet)
    Record.objects.create(
        tenant_id=decision.tenant_id,
        run_id=decision.run_id,
        decision=decision,
        vote=vote,
        sheet=sheet,
        digest=digest,
        at=vote.at,
    )
    return digest
