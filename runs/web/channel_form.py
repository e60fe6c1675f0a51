"""A channel as a person fills it in; its address is never shown again."""

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms

from runs.channels import leading
from runs.rules import canonical
from runs.rules.channels import (
    SEVERITY_SAYS,
    ChannelKind,
    ChannelRefused,
    ChannelWish,
    Severity,
)

KIND_SAYS = {
    ChannelKind.MAIL: "mail to addresses",
    ChannelKind.WEBHOOK: "signed webhook: a POST to your own program",
    ChannelKind.APPRISE: "a chat or paging service, by its apprise address",
}


class ChannelForm(forms.Form):
    """What takes which severity is chosen, never preselected."""

    name = forms.CharField(max_length=60, help_text="Such as night shift.")
    tenant = forms.ChoiceField(help_text="Of whose runs it tells.")
    kind = forms.ChoiceField(
        choices=[("", "choose"), *((kind.value, says) for kind, says in KIND_SAYS.items())]
    )
    address = forms.CharField(
        max_length=2000,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=(
            "Mail addresses with spaces between, https://… for a webhook, or an apprise address "
            "such as slack://…. It is kept encrypted, and not shown again."
        ),
    )
    severities = forms.MultipleChoiceField(
        label="Tells of",
        choices=[(each.value, f"{each.value}: {says}") for each, says in SEVERITY_SAYS.items()],
        widget=forms.CheckboxSelectMultiple,
    )
    workflows = forms.CharField(
        required=False,
        max_length=2000,
        label="Only of these workflows",
        help_text="Their names with spaces between; empty: of all, and of what is no workflow's.",
    )
    revision = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(
        self,
        *,
        tenants: Iterable[str],
        schemes: Sequence[str],
        was: Any = None,
        **more: Any,
    ) -> None:
        initial = {} if was is None else _asked(was)
        super().__init__(initial=initial, **more)
        self.schemes = schemes
        self.fields["tenant"].choices = [(slug, slug) for slug in tenants]  # type: ignore[attr-defined]
        if was is not None:
            del self.fields["tenant"]
            self.fields["kind"].disabled = True
            self.fields["address"].required = False
            self.fields["address"].help_text = f"Empty: it stays {was.target}."

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or {}
        said["led"] = None
        if said.get("address") and said.get("kind"):
            try:
                said["led"] = leading.read(said["kind"], said["address"], schemes=self.schemes)
            except ChannelRefused as refused:
                self.explain(refused.errors)
        return said

    @property
    def wish(self) -> ChannelWish:
        said = self.cleaned_data
        return ChannelWish(
            name=said["name"].strip(),
            kind=said["kind"],
            severities=tuple(said["severities"]),
            workflows=tuple(said["workflows"].split()),
            led=said["led"],
        )

    def explain(self, errors: dict[str, str]) -> None:
        """Each sentence at the field it is about."""
        for name, error in errors.items():
            self.add_error(name if name in self.fields else None, error)


class WouldForm(forms.Form):
    """Of what somebody would be told, to ask who that is."""

    severity = forms.ChoiceField(choices=[(each.value, each.value) for each in Severity])
    workflow = forms.CharField(required=False, max_length=100)
    tenant = forms.TypedChoiceField(coerce=int)

    def __init__(self, *, tenants: dict[int, str], **more: Any) -> None:
        super().__init__(**more)
        self.fields["tenant"].choices = list(tenants.items())  # type: ignore[attr-defined]


def _asked(channel: Any) -> dict[str, Any]:
    return {
        "name": channel.name,
        "kind": channel.kind,
        "severities": canonical.loads(channel.severities),
        "workflows": " ".join(canonical.loads(channel.workflows)),
        "revision": channel.revision,
    }
