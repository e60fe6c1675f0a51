"""How long decisions wait for people: percentiles by workflow and by group, and how they end."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from approvals.models import Audience
from approvals.queries.visible import open_decisions, visible_decisions
from approvals.rules.percentiles import Waited, waited
from approvals.rules.states import ANSWERS
from runs.rules.policy import Actor

AT_MOST = 10_000
ANYBODY = "whoever may decide"
BY_RULE = "by rule"
PERIODS = {"7": timedelta(days=7), "30": timedelta(days=30), "90": timedelta(days=90)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One workflow or group: how long people took, how it ended, what is open now."""

    name: str
    waited: Waited
    ended: Sequence[tuple[str, int]]
    open: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    workflows: Sequence[Row]
    groups: Sequence[Row]
    looked_at: int
    cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Closed:
    workflow: str
    groups: tuple[str, ...]
    state: str
    by_rule: bool
    seconds: float


def statistics(actor: Actor, *, since: datetime) -> Statistics:
    """Of what was closed since then, at most ten thousand of the newest."""
    found = _closed(actor, since=since)
    cut, found = len(found) > AT_MOST, found[:AT_MOST]
    still = _open(actor)
    return Statistics(
        workflows=_rows([(one.workflow, one) for one in found], [name for name, _ in still]),
        groups=_rows(
            [(group, one) for one in found for group in one.groups],
            [group for _, groups in still for group in groups],
        ),
        looked_at=len(found),
        cut=cut,
    )


def _closed(actor: Actor, *, since: datetime) -> list[_Closed]:
    rows = visible_decisions(actor).filter(closed_at__gte=since).order_by("-closed_at", "-pk")
    values = list(
        rows.values_list("pk", "workflow", "state", "opened_at", "closed_at", "rule")[: AT_MOST + 1]
    )
    groups = _groups([pk for pk, *_ in values])
    return [
        _Closed(
            workflow=workflow,
            groups=groups.get(pk, (ANYBODY,)),
            state=state,
            by_rule=rule is not None,
            seconds=(closed_at - opened_at).total_seconds(),
        )
        for pk, workflow, state, opened_at, closed_at, rule in values
        if closed_at is not None
    ]


def _open(actor: Actor) -> list[tuple[str, tuple[str, ...]]]:
    values = list(open_decisions(actor).values_list("pk", "workflow")[:AT_MOST])
    groups = _groups([pk for pk, _ in values])
    return [(workflow, groups.get(pk, (ANYBODY,))) for pk, workflow in values]


def _groups(decision_ids: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """In portions: a database takes so many names at a time and no more."""
    found: dict[int, list[str]] = defaultdict(list)
    for start in range(0, len(decision_ids), 500):
        part = decision_ids[start : start + 500]
        rows = Audience.objects.filter(decision_id__in=part).order_by("group")
        for decision_id, group in rows.values_list("decision_id", "group"):
            found[decision_id].append(group)
    return {pk: tuple(names) for pk, names in found.items()}


def _rows(found: Iterable[tuple[str, _Closed]], still: Iterable[str]) -> list[Row]:
    by_name: dict[str, list[_Closed]] = defaultdict(list)
    for name, one in found:
        by_name[name].append(one)
    left = Counter(still)
    answered = {state.value for state in ANSWERS}
    return [
        Row(
            name=name,
            waited=waited(
                one.seconds for one in by_name[name] if one.state in answered and not one.by_rule
            ),
            ended=sorted(
                Counter(BY_RULE if one.by_rule else one.state for one in by_name[name]).items()
            ),
            open=left[name],
        )
        for name in sorted({*by_name, *left})
    ]
