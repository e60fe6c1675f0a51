"""What a decision is decided by: request, evidence, what the receiver says now, and how much is shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from approvals.models import Decision
from approvals.queries.askings import AskingShown, askings_of, can_be_asked
from approvals.queries.sights import folded_of, has_whole, whole_size
from approvals.rules.asked import Asked, Option
from approvals.rules.sight import MOST_WHOLE, SHOWN, Folded, refusal
from approvals.rules.supports import Support, supported
from runs.rules import canonical, redaction
from runs.rules.payloads import Payload, payload_of
from runs.rules.policy import Actor

WHOLE = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """`folded` is what the page shows in part; `facts` are evidence by name, where all of it is shown."""

    request: Payload | None
    evidence: Payload | None
    facts: dict[str, Any]
    folded: Sequence[Folded]
    whole_size: int
    has_whole: bool
    fits_a_page: bool
    is_whole: bool
    askings: Sequence[AskingShown]
    can_be_asked: bool
    support: Support | None

    def unseen(self, option: Option) -> str:
        """Why this option may not be chosen before the whole has been seen; mostly empty."""
        return "" if option.ends_the_run else refusal(self.folded, has_whole=self.has_whole)

    def speaks_for(self, option: Option) -> str:
        """What in the evidence supports this option: said, and never chosen."""
        return self.support.because if self.support and self.support.option == option.key else ""


def proof_of(
    actor: Actor, decision: Decision, asked: Asked, *, visible: bool, whole: bool
) -> Proof:
    """`whole` when the reader asked for everything, however long it is."""
    folded = folded_of(decision, asked)
    most = WHOLE if whole else SHOWN
    evidence = _evidence(asked, visible=visible, most=most)
    shows_facts = visible and isinstance(asked.evidence, dict) and evidence and not evidence.cut
    return Proof(
        request=_request(asked, visible=visible, most=most),
        evidence=evidence,
        facts=redaction.shown(asked.evidence, paths=asked.redact).value if shows_facts else {},
        folded=folded,
        whole_size=whole_size(decision, asked) if folded else 0,
        has_whole=not folded or has_whole(actor, decision),
        fits_a_page=fits_a_page(asked),
        is_whole=whole,
        askings=askings_of(decision),
        can_be_asked=visible and can_be_asked(decision, asked),
        support=supported(asked),
    )


def fits_a_page(asked: Asked) -> bool:
    """Whether the whole can be shown at once; a longer list is downloaded."""
    return asked.plan is None or asked.plan.count <= MOST_WHOLE


def _request(asked: Asked, *, visible: bool, most: int) -> Payload | None:
    if asked.call is None:
        return None
    text = canonical.dumps(asked.call.get("request"))
    digest = str(asked.call.get("request_digest", ""))
    return payload_of(text, visible=visible, digest=digest, most=most, paths=asked.redact)


def _evidence(asked: Asked, *, visible: bool, most: int) -> Payload | None:
    if not asked.evidence:
        return None
    text = canonical.dumps(asked.evidence)
    digest = canonical.digest(text)
    return payload_of(text, visible=visible, digest=digest, most=most, paths=asked.redact)
