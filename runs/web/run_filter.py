"""What the address of the list of runs asks for."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import django_filters
from django import forms
from django.http import QueryDict
from django.utils import timezone

from runs.queries.pages_runs import Wanted, wanted_runs
from runs.queries.plans import stored_workflows
from runs.rules.hours import HOUR, hour_named
from runs.rules.policy import Actor
from runs.rules.states import RunState, WaitKind

WINDOWS = {
    "1h": ("1 hour", timedelta(hours=1)),
    "24h": ("24 hours", timedelta(hours=24)),
    "7d": ("7 days", timedelta(days=7)),
    "30d": ("30 days", timedelta(days=30)),
    "all": ("any time", None),
}
DEFAULT_WINDOW = "7d"
LONGEST = "waiting"


class RunFilter(django_filters.FilterSet):  # type: ignore[misc]
    """The names in the address of the list; an unset window is seven days, `all` is all.

    Whoever waits longest may have begun at any time, so there an unset window is all. A bar of the first page leads to one hour, which is then a choice as well.
    """

    state = django_filters.ChoiceFilter(
        label="Status",
        empty_label="any",
        choices=[
            ("open", "not final"),
            ("stuck", "stuck"),
            *((state.value, state.value) for state in RunState),
        ],
    )
    workflow = django_filters.ChoiceFilter(label="Workflow", empty_label="any")
    waits_for = django_filters.ChoiceFilter(
        label="Waiting for",
        empty_label="anything",
        choices=[(kind.value, kind.value) for kind in WaitKind],
    )
    started = django_filters.ChoiceFilter(label="Started", empty_label=None)
    sort = django_filters.ChoiceFilter(
        label="Sorted by",
        empty_label="newest start",
        choices=[(LONGEST, "longest wait")],
    )
    q = django_filters.CharFilter(
        label="Reference, run id or key",
        max_length=300,
        widget=forms.TextInput(attrs={"placeholder": "or by:name, or label=value"}),
    )

    def __init__(self, data: QueryDict, *, workflows: Sequence[str], runs: Any) -> None:
        asked = data.copy()
        asked.setdefault("started", "all" if asked.get("sort") == LONGEST else DEFAULT_WINDOW)
        started = str(asked["started"])
        self.hour = hour_named(started)
        super().__init__(asked, queryset=runs)
        windows = [(name, words) for name, (words, _) in WINDOWS.items()]
        if self.hour is not None:
            windows.append((started, _in_words(self.hour)))
        self.filters["started"].extra["choices"] = windows
        self.filters["workflow"].extra["choices"] = [(name, name) for name in workflows]

    @property
    def wanted(self) -> Wanted:
        """What was asked for, once the form is valid."""
        said: Mapping[str, str] = self.form.cleaned_data
        started = said["started"] or DEFAULT_WINDOW
        return Wanted(
            state=said["state"],
            workflow=said["workflow"],
            waits_for=said["waits_for"],
            within=WINDOWS[started][1] if started in WINDOWS else None,
            hour=self.hour,
            text=said["q"].strip(),
            longest_waiting=said["sort"] == LONGEST,
        )


def filter_of(actor: Actor, asked: QueryDict, *, now: datetime) -> RunFilter:
    """What this address asks of the runs that the actor sees."""
    everything = wanted_runs(actor, Wanted(), now=now)
    return RunFilter(asked, workflows=stored_workflows(), runs=everything)


def _in_words(hour: datetime) -> str:
    start, end = timezone.localtime(hour), timezone.localtime(hour + HOUR)
    return f"{start:%d %b %H:%M} to {end:%H:%M}"
