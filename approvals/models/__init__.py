"""What is stored of decisions: one noun a file, constraints named as sentences, no behaviour."""

from approvals.models.asking import Asking
from approvals.models.audience import Audience
from approvals.models.batch import Batch, BatchItem
from approvals.models.claim import Claim
from approvals.models.decision import Decision
from approvals.models.delegation import Delegation
from approvals.models.ground import Ground
from approvals.models.handover import Handover
from approvals.models.notice import Notice
from approvals.models.record import Record
from approvals.models.requester import Requester
from approvals.models.rule import ApprovalRule, RuleVersion
from approvals.models.sight import Sight
from approvals.models.strike import Strike
from approvals.models.vote import Vote

__all__ = [
    "ApprovalRule",
    "Asking",
    "Audience",
    "Batch",
    "BatchItem",
    "Claim",
    "Decision",
    "Delegation",
    "Ground",
    "Handover",
    "Notice",
    "Record",
    "Requester",
    "RuleVersion",
    "Sight",
    "Strike",
    "Vote",
]
