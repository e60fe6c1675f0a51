"""What is stored of decisions: one noun a file, constraints named as sentences, no behaviour."""

from approvals.models.asking import Asking
from approvals.models.audience import Audience
from approvals.models.decision import Decision
from approvals.models.ground import Ground
from approvals.models.sight import Sight
from approvals.models.strike import Strike
from approvals.models.vote import Vote

__all__ = ["Asking", "Audience", "Decision", "Ground", "Sight", "Strike", "Vote"]
