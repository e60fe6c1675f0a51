"""What a person fills in about how they like to read."""

from collections.abc import Mapping
from typing import Any
from zoneinfo import available_timezones

from django import forms

from runs.rules.preferences import CHOICES, PLACE

SAYS: Mapping[str, Mapping[str, str]] = {
    "theme": {"system": "as this device", "light": "light", "dark": "dark"},
    "time": {"utc": "in UTC", "local": "in your own zone"},
    "density": {"normal": "normal", "compact": "compact: lower rows"},
    "keys": {"on": "on", "off": "off"},
    "landing": {"needs": "Needs you"},
}
LABELS = {
    "theme": "Theme",
    "time": "Times",
    "density": "Density",
    "keys": "Keys without a modifier",
    "landing": "First page after signing in",
}


class PreferenceForm(forms.Form):
    """Every choice there is, with what holds now."""

    place = forms.CharField(
        required=False,
        max_length=60,
        label="Your own zone",
        help_text="Such as Europe/Berlin; empty is the zone of the device.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    field_order = ("theme", "density", "time", PLACE, "keys", "landing")

    def __init__(self, *, data: Any, now: Mapping[str, str]) -> None:
        super().__init__(data, initial=dict(now))
        for name, allowed in CHOICES.items():
            words = [(each, SAYS[name].get(each, each.capitalize())) for each in allowed]
            self.fields[name] = forms.ChoiceField(choices=words, label=LABELS[name])
        self.order_fields(self.field_order)

    def clean_place(self) -> str:
        place: str = self.cleaned_data["place"]
        if place and place not in available_timezones():
            raise forms.ValidationError("No zone has this name. Write one such as Europe/Berlin.")
        return place
