"""Which runs a person has chosen in the list."""

from uuid import UUID

from django.http import QueryDict

from runs.ledger.selecting import NotTogether
from runs.queries.clock import db_now
from runs.queries.pages_runs import wanted_runs
from runs.rules.policy import Actor
from runs.rules.together import MOST
from runs.web.run_filter import filter_of


def chosen_runs(actor: Actor, said: QueryDict) -> list[UUID]:
    """Those that are ticked, or all that the filter finds. Raises NotTogether."""
    if said.get("all"):
        return _found(actor, QueryDict(said.get("asked_for", "")))
    try:
        return [UUID(each) for each in said.getlist("run")]
    except ValueError:
        raise NotTogether("That is not a list of runs this page has shown.") from None


def _found(actor: Actor, query: QueryDict) -> list[UUID]:
    """One more than may be chosen, where there are so many."""
    now = db_now()
    asked = filter_of(actor, query, now=now)
    if not asked.form.is_valid():
        raise NotTogether("That is not a filter of this list.")
    runs = wanted_runs(actor, asked.wanted, now=now)
    return list(runs.order_by("pk").values_list("pk", flat=True)[: MOST + 1])
