"""What the address of the list of decisions asks for."""

from collections.abc import Sequence
from typing import Any

from django import forms

from approvals.queries.inbox_tabs import WINDOWS, Wanted
from approvals.rules.looks import WORDS


class InboxFilter(forms.Form):
    """Every word stands in the address, so that a list can be sent to somebody."""

    workflow = forms.ChoiceField(required=False, label="Workflow")
    kind = forms.ChoiceField(required=False, label="Kind", choices=[("", "any"), *WORDS.items()])
    risk = forms.ChoiceField(
        required=False,
        label="Risk",
        choices=[("", "any"), ("irreversible", "irreversible"), ("reversible", "can be undone")],
    )
    within = forms.ChoiceField(
        required=False,
        label="Closed",
        choices=[(name, words) for name, (words, _) in WINDOWS.items()],
    )
    q = forms.CharField(required=False, max_length=200, label="Question or reference")
    tab = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any, *, tab: str, workflows: Sequence[str]) -> None:
        asked = data.copy()
        asked["tab"] = tab
        asked.setdefault("within", "7d")
        super().__init__(asked)
        choices = [("", "any"), *((name, name) for name in workflows)]
        self.fields["workflow"] = forms.ChoiceField(
            required=False, label="Workflow", choices=choices
        )
        self.order_fields(["workflow", "kind", "risk", "within", "q", "tab"])
        if tab != "closed":
            del self.fields["within"]

    @property
    def wanted(self) -> Wanted:
        """What is asked for, once the form is valid."""
        said = self.cleaned_data
        return Wanted(
            workflow=said["workflow"],
            kind=said["kind"],
            risk=said["risk"],
            text=said["q"].strip(),
            within=WINDOWS[said.get("within") or "7d"][1],
        )
