"""Which run, worker or tenant a person means by what they typed."""

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db.models import Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Replace

from runs.models import Run, Schedule, Tenant, Worker
from runs.queries.visibility import visible_runs
from runs.rules.policy import Actor, may_see_tenant

SHORTEST = 6
MOST_SHOWN = 10
HEX = frozenset("0123456789abcdef")


def runs_named(actor: Actor, text: str) -> Sequence[Run]:
    """The runs with this id, this reference, or this beginning or end of an id; the newest first.

    An id or a reference that fits whole leaves no room for parts of ids.
    """
    runs = visible_runs(actor).order_by("-created_at", "-pk")
    part = text.lower().replace("-", "")
    if len(part) == 32 and set(part) <= HEX:
        return list(runs.filter(pk=UUID(part)))
    named = list(runs.filter(reference=text)[:MOST_SHOWN])
    if named or len(part) < SHORTEST or not set(part) <= HEX:
        return named
    return list(runs.filter(_begins_with(part))[:MOST_SHOWN]) or list(_ends_with(runs, part))


def _begins_with(part: str) -> Q:
    """As a range, which the index of the key answers on both databases."""
    return Q(pk__gte=UUID(part.ljust(32, "0"))) & Q(pk__lte=UUID(part.ljust(32, "f")))


def _ends_with(runs: QuerySet[Run], part: str) -> QuerySet[Run]:
    """Reads every id: no index knows their ends."""
    plain = Replace(Cast("pk", TextField()), Value("-"), Value(""), output_field=TextField())
    return runs.annotate(plain_id=plain).filter(plain_id__endswith=part)[:MOST_SHOWN]


def workers_named(text: str) -> list[UUID]:
    """The workers whose id begins like this, or that are this host/pid."""
    host, _, pid = text.rpartition("/")
    if host and pid.isdigit():
        rows = Worker.objects.filter(host=host, pid=int(pid))
        return list(rows.order_by("-started_at").values_list("pk", flat=True)[:1])
    part = text.lower().replace("-", "")
    if not SHORTEST <= len(part) <= 32 or not set(part) <= HEX:
        return []
    rows = Worker.objects.filter(_begins_with(part))
    return list(rows.order_by("-started_at").values_list("pk", flat=True)[:MOST_SHOWN])


def tenant_named(actor: Actor, slug: str) -> int | None:
    """The tenant's id; None when there is none that this actor belongs to."""
    found = Tenant.objects.filter(slug=slug).values_list("pk", flat=True).first()
    return found if found is not None and may_see_tenant(actor, found) else None


def tenants_seen(actor: Actor) -> dict[int, str]:
    """The tenants this actor belongs to, by id; the default one first."""
    rows = Tenant.objects.order_by("pk").values_list("pk", "slug")
    return {pk: slug for pk, slug in rows if may_see_tenant(actor, pk)}


def workflows_of(*, runs: Collection[UUID], schedules: Collection[int]) -> dict[str, str]:
    """Of which workflow each of these is, by its id as text; nothing is asked where none is named."""
    found: dict[str, str] = {}
    for rows, ids in ((Run.objects.all(), runs), (Schedule.objects.all(), schedules)):
        if ids:
            named = rows.filter(pk__in=list(ids)).values_list("pk", "workflow")
            found |= {str(pk): workflow for pk, workflow in named}
    return found
