"""What a person fills in to label a run, or many."""

from typing import Any

from django import forms

from runs.rules.labels import LabelRefused, label_from


class LabelForm(forms.Form):
    """A label's name and value; without a value the label is taken away."""

    name = forms.CharField(max_length=40, help_text="Such as “team”.")
    value = forms.CharField(max_length=100, required=False, help_text="Empty takes the label away.")
    because = forms.CharField(
        required=False,
        max_length=2000,
        label="Reason",
        help_text="Kept in the audit.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    seen = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or self.cleaned_data
        if "name" in said:
            try:
                said["label"] = label_from(said["name"], said.get("value", ""))
            except LabelRefused as refused:
                self.add_error("name", str(refused))
        return said
