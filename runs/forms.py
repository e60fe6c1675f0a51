"""What a reader may ask of a list, and what a person fills in to start a run."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import django_filters
from django import forms
from django.http import QueryDict

from runs.queries.pages_runs import Wanted
from runs.rules import inputs
from runs.rules.states import RunState, WaitKind

WINDOWS = {
    "1h": ("1 hour", timedelta(hours=1)),
    "24h": ("24 hours", timedelta(hours=24)),
    "7d": ("7 days", timedelta(days=7)),
    "30d": ("30 days", timedelta(days=30)),
    "all": ("any time", None),
}
DEFAULT_WINDOW = "7d"


class RunFilter(django_filters.FilterSet):  # type: ignore[misc]
    """The names in the address of the list; an unset window is seven days, `all` is all."""

    state = django_filters.ChoiceFilter(
        label="Status",
        empty_label="any",
        choices=[("open", "not final"), *((state.value, state.value) for state in RunState)],
    )
    workflow = django_filters.ChoiceFilter(label="Workflow", empty_label="any")
    waits_for = django_filters.ChoiceFilter(
        label="Waiting for",
        empty_label="anything",
        choices=[(kind.value, kind.value) for kind in WaitKind],
    )
    started = django_filters.ChoiceFilter(
        label="Started",
        empty_label=None,
        choices=[(name, words) for name, (words, _) in WINDOWS.items()],
    )
    q = django_filters.CharFilter(label="Reference, run id or key", max_length=300)

    def __init__(self, data: QueryDict, *, workflows: Sequence[str], runs: Any) -> None:
        asked = data.copy()
        asked.setdefault("started", DEFAULT_WINDOW)
        super().__init__(asked, queryset=runs)
        self.filters["workflow"].extra["choices"] = [(name, name) for name in workflows]

    @property
    def wanted(self) -> Wanted:
        """What was asked for, once the form is valid."""
        said: Mapping[str, str] = self.form.cleaned_data
        return Wanted(
            state=said["state"],
            workflow=said["workflow"],
            waits_for=said["waits_for"],
            within=WINDOWS[said["started"] or DEFAULT_WINDOW][1],
            text=said["q"].strip(),
        )


class StartForm(forms.Form):
    """The fields of a workflow's `Input`, with a reference and a start key."""

    reference = forms.CharField(
        required=False, max_length=200, help_text="What people will know this run by."
    )
    start_key = forms.CharField(
        required=False,
        max_length=200,
        label="Start key",
        help_text="The same key and input answer with the same run, however often you press Start.",
    )

    def __init__(self, fields: Sequence[inputs.Field], data: Any = None) -> None:
        super().__init__(data)
        self.declared = fields
        made = {f"in_{field.name}": _form_field(field) for field in fields}
        self.fields = made | self.fields

    @property
    def run_input(self) -> dict[str, Any]:
        """What was typed, read by the declared types; the rules check it in full."""
        return {
            field.name: inputs.parsed(field, str(self.cleaned_data[f"in_{field.name}"] or ""))
            for field in self.declared
        }


def _form_field(field: inputs.Field) -> forms.Field:
    common: dict[str, Any] = {
        "label": field.name.replace("_", " ").capitalize(),
        "help_text": field.help or field.type,
        "required": field.required and field.type != "true or false",
        "initial": field.default,
    }
    if field.type == "true or false":
        return forms.BooleanField(**common)
    if field.choices:
        return forms.ChoiceField(choices=[(str(c), str(c)) for c in field.choices], **common)
    if field.type in ("list", "object"):
        return forms.CharField(widget=forms.Textarea(attrs={"rows": 4}), **common)
    return forms.CharField(**common)
