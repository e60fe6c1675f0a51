"""What approvals put into the file that a run is taken away in."""

from functools import partial
from uuid import UUID

from django.db.models import Model

from approvals.models import (
    Asking,
    Audience,
    Claim,
    Decision,
    Ground,
    Handover,
    Notice,
    Record,
    Requester,
    Sight,
    Strike,
    Vote,
)
from runs.queries import bundling

OF_A_DECISION: dict[str, type[Model]] = {
    "decision_groups.jsonl": Audience,
    "decision_requesters.jsonl": Requester,
    "decision_strikes.jsonl": Strike,
    "decision_votes.jsonl": Vote,
    "decision_records.jsonl": Record,
    "decision_claims.jsonl": Claim,
    "decision_handovers.jsonl": Handover,
    "decision_notices.jsonl": Notice,
    "decision_askings.jsonl": Asking,
    "decision_grounds.jsonl": Ground,
    "decision_sights.jsonl": Sight,
}


def register_parts() -> None:
    bundling.register("decisions.jsonl", partial(_rows, Decision, "run_id"))
    for part, model in OF_A_DECISION.items():
        bundling.register(part, partial(_rows, model, "decision__run_id"))


def _rows(model: type[Model], through: str, run_id: UUID) -> bundling.Rows:
    return bundling.rows(model._default_manager.filter(**{through: run_id}).order_by("pk"))
