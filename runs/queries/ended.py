"""Which runs are over for good, with all that stand for the same work, and since before when."""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from runs.models import Run
from runs.queries.lineage import family_of
from runs.rules.states import FINAL


class Ended(NamedTuple):
    id: UUID
    tenant_id: int


def ended_before(ids: Collection[UUID], before: datetime) -> list[Ended]:
    """Those of these runs that ended before then; a failed one has not ended.

    One that was begun in place of another may work on what that one has made.
    """
    states = sorted(state.value for state in FINAL)
    over = Run.objects.filter(state__in=states, ended_at__lt=before)
    return [
        Ended(run.pk, run.tenant_id)
        for run in over.filter(pk__in=ids).order_by("pk")
        if not Run.objects.filter(pk__in=family_of(run)).exclude(pk__in=over.values("pk")).exists()
    ]
