"""What people type about monitors and incidents."""

from datetime import datetime, timedelta
from typing import Any

from django import forms

from monitors.rules.incidents import LONGEST_NOTE

SNOOZES = (("1", "1 hour"), ("4", "4 hours"), ("24", "1 day"), ("168", "7 days"))


def note_in(posted: Any) -> str:
    """What somebody says about it; it may be nothing."""
    return str(posted.get("note", "")).strip()[:LONGEST_NOTE]


class SnoozeForm(forms.Form):
    """For how long, or until when; nothing is preselected."""

    lasts = forms.ChoiceField(required=False, label="For", choices=[("", "choose"), *SNOOZES])
    until_at = forms.DateTimeField(
        required=False,
        label="Or until",
        help_text="In the zone that this page is read in, such as 2027-01-31 09:00.",
    )
    note = forms.CharField(required=False, max_length=LONGEST_NOTE, label="Note")

    def clean(self) -> dict[str, Any]:
        said = super().clean() or {}
        if bool(said.get("lasts")) == bool(said.get("until_at")) and not self.errors:
            raise forms.ValidationError("Say either for how long or until when.")
        return said

    def until(self, *, now: datetime) -> datetime:
        """The moment that is meant, once the form is valid."""
        at: datetime | None = self.cleaned_data["until_at"]
        return at or now + timedelta(hours=int(self.cleaned_data["lasts"]))
