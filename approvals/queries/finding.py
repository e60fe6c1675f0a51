"""Which calls of a list name a text; what is taken out of sight is not found by searching either."""

from typing import TYPE_CHECKING, Any

from django.db.models import Q

from approvals.models import Decision
from approvals.queries import lists
from approvals.rules.asked import PlanAsked
from approvals.rules.finding import names, stored_forms
from runs.rules import canonical, redaction

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from runs.models import PlannedCall

TEXTS = ("resource", "request", "evidence")


def safe(plan: PlanAsked, effect: str, text: str) -> Any:
    """A request or some evidence, without what nobody is shown."""
    return redaction.shown(canonical.loads(text), paths=plan.redact.get(effect, ())).value


def ordinals_that_name(decision: Decision, text: str, *, visible: bool) -> list[int]:
    """In their order. Who sees no payloads searches the names of calls alone."""
    plan = lists.plan_of(decision)
    rows = _that_may(lists.rows_of(decision, plan), text, visible=visible).order_by("ordinal")
    found = []
    for ordinal, effect, *texts in rows.values_list("ordinal", "effect", *TEXTS).iterator(
        chunk_size=1000
    ):
        resource, request, evidence = texts
        shown = [safe(plan, effect, each) if visible else None for each in (request, evidence)]
        if names(text, resource=resource, request=shown[0], evidence=shown[1]):
            found.append(ordinal)
    return found


def _that_may(
    rows: "QuerySet[PlannedCall]", text: str, *, visible: bool
) -> "QuerySet[PlannedCall]":
    """Those whose stored text leaves room for it, so that few have to be read."""
    forms = stored_forms(text)
    if not forms:
        return rows
    may = Q()
    for form in forms:
        for name in TEXTS if visible else TEXTS[:1]:
            may |= Q(**{f"{name}__icontains": form})
    return rows.filter(may)
