"""The page that somebody answered is kept as it was shown, in the transaction of the answer."""

from approvals.models import Decision, Record, Vote
from approvals.queries.recorded import sheet_of
from runs.ledger.guards import keep_append_only
from runs.rules import canonical
from runs.rules.policy import Actor

SAME = [
    "decision_id",
    "by",
    "on_behalf_of",
    "groups",
    "option",
    "fields",
    "comment",
    "digest",
    "struck",
    "alone",
    "break_glass",
    "door",
    "at",
]
# Written so that none of them is ever unknown: what is unknown would be let pass.
ONCE = [
    '(NEW."address" IS NULL) = (OLD."address" IS NULL)',
    '(NEW."address" IS NULL OR NEW."address" = OLD."address")',
    *(
        f'(NEW."{account}" IS NULL OR (OLD."{account}" IS NOT NULL'
        f' AND NEW."{account}" = OLD."{account}"))'
        for account in ("user_id", "voice_id")
    ),
    '(OLD."void_at" IS NULL OR (NEW."void_at" IS NOT NULL AND NEW."void_at" = OLD."void_at"'
    ' AND NEW."void_because" = OLD."void_because"))',
]


def guard() -> None:
    """Records never change; of a vote only that it counts no more, and that its account is gone."""
    keep_append_only("approvals_record", because="I13: what was shown is kept as it was")
    same = " AND ".join([*(f'NEW."{column}" = OLD."{column}"' for column in SAME), *ONCE])
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
