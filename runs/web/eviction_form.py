"""What a person says to evict a worker."""

from typing import Any

from django import forms


class EvictionForm(forms.Form):
    """Of a worker that may be alive it has to be said that it is to go all the same."""

    because = forms.CharField(
        max_length=300,
        label="Reason",
        help_text="Kept in the audit.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    though_alive = forms.BooleanField(
        label="Take its run though it may be alive",
        help_text="Its lease is good: it renewed it a moment ago.",
        error_messages={"required": "Say so, or drain it and let it finish."},
    )
    seen = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput)

    def __init__(self, *, data: Any, seen: str, may_live: bool) -> None:
        super().__init__(data, initial={"seen": seen})
        if not may_live:
            del self.fields["though_alive"]
