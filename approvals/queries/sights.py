"""How much of what is asked about a page shows, and who has had the whole."""

from collections.abc import Iterator

from django.db.models import Max, Sum
from django.db.models.functions import Length

from approvals.models import Decision, Sight
from approvals.queries import lists
from approvals.queries.calls import PAGE
from approvals.rules.asked import Asked
from approvals.rules.columns import MOST_COLUMNS, columns_of
from approvals.rules.columns import SHOWN as CELL
from approvals.rules.sight import MOST_WHOLE, SHOWN, Folded
from runs.rules import canonical
from runs.rules.policy import Actor


def folded_of(decision: Decision, asked: Asked) -> list[Folded]:
    """Everything that the page of a decision does not show whole."""
    return [*_payloads(asked), *_list(decision, asked)]


def _payloads(asked: Asked) -> Iterator[Folded]:
    call = asked.call.get("request") if asked.call else None
    for what, value in (("request", call), ("evidence", asked.evidence)):
        size = len(canonical.dumps(value).encode()) if value else 0
        if size > SHOWN:
            yield Folded(what=what, shown=_bytes(SHOWN), size=_bytes(size))


def _list(decision: Decision, asked: Asked) -> Iterator[Folded]:
    if asked.plan is None:
        return
    if asked.plan.count > PAGE:
        yield Folded(what="calls", shown=f"{PAGE:,}", size=f"{asked.plan.count:,}")
        return
    rows = lists.rows_of(decision, asked.plan)
    longest = rows.aggregate(request=Max(Length("request")), evidence=Max(Length("evidence")))
    for what, length in sorted(longest.items()):
        if (length or 0) > CELL:
            shown, size = f"{CELL:,} characters", f"up to {length:,}"
            yield Folded(what=f"{what} of single calls", shown=shown, size=size)
    texts = rows.order_by("ordinal").values_list("evidence", flat=True)
    columns = len(columns_of(map(canonical.loads, texts), most=MOST_WHOLE))
    if columns > MOST_COLUMNS:
        yield Folded(what="columns of evidence", shown=f"{MOST_COLUMNS}", size=f"{columns}")


def _bytes(size: int) -> str:
    return f"{size:,} B" if size < 1024 else f"{size / 1024:,.0f} KB"


def whole_size(decision: Decision, asked: Asked) -> int:
    """How many characters the whole has, so that nobody downloads it unwarned."""
    size = len(canonical.dumps([asked.evidence, asked.call]))
    if asked.plan is not None:
        rows = lists.rows_of(decision, asked.plan)
        each = rows.aggregate(request=Sum(Length("request")), evidence=Sum(Length("evidence")))
        size += sum(found or 0 for found in each.values())
    return size


def has_whole(actor: Actor, decision: Decision) -> bool:
    """Whether this person has had all of it, as it was frozen when the question was asked."""
    mine = Sight.objects.filter(decision=decision, by=actor.name, digest=decision.ask_digest)
    return mine.exists()
