"""What a person fills in to answer: the option, its fields, a comment, the typed confirmation."""

from collections.abc import Iterable
from datetime import UTC, datetime, time
from typing import Any

from django import forms

from approvals.queries.delegations import Choices
from approvals.queries.page import DecisionPage, shared_fields
from approvals.rules.asked import Asked, Option
from approvals.rules.demands import TYPED, confirms
from approvals.rules.schema import Field, FieldsRefused, fields_of, validated


class AnswerForm(forms.Form):
    """Nothing is preselected; what cannot be undone takes a comment and six typed characters."""

    option = forms.ChoiceField(
        widget=forms.RadioSelect,
        error_messages={"required": "Choose one. Nothing is chosen for you."},
    )
    comment = forms.CharField(
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Kept with the record. Required where something cannot be undone.",
    )
    confirm = forms.CharField(required=False, max_length=200)
    break_glass = forms.BooleanField(required=False)
    password = forms.CharField(
        required=False,
        max_length=4096,
        strip=False,
        label="Your password",
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    shown_digest = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)
    seen = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, page: DecisionPage, data: Any = None) -> None:
        super().__init__(data)
        self.page, self.asked = page, page.asked
        chooser = self.fields["option"]
        assert isinstance(chooser, forms.ChoiceField)  # noqa: S101 - declared above
        chooser.choices = [(option.key, option.label) for option in self.asked.options]
        for name, field in _declared(self.asked):
            self.fields[name] = _form_field(field)

    def clean_confirm(self) -> str:
        return str(self.cleaned_data["confirm"]).strip()

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        if "option" not in said:
            return said
        chosen = self.asked.option(said["option"])
        grave = self._is_grave(chosen)
        if (grave or self.asked.always_comment) and not said.get("comment", "").strip():
            self.add_error("comment", f"“{chosen.label}” needs a comment: say why it is right.")
        if grave:
            self._require_confirmed()
        try:
            validated(chosen.fields, self.answers_of(chosen))
        except FieldsRefused as refused:
            for name, error in refused.errors.items():
                self.add_error(self._named(chosen, name), error.capitalize() + ".")
        return said

    def _is_grave(self, chosen: Option) -> bool:
        marked = any(one.grave for one in self.page.options if one.option == chosen)
        return marked or bool(self.cleaned_data.get("break_glass"))

    def _require_confirmed(self) -> None:
        run, typed = self.page.decision.run, self.cleaned_data.get("confirm", "")
        if not confirms(
            typed, names=(run.reference, str(run.pk)), digest=self.page.decision.digest
        ):
            self.add_error(
                "confirm",
                f"Type the last {TYPED} characters of the run's reference, or of its id.",
            )

    def answers_of(self, chosen: Option) -> dict[str, Any]:
        """What was typed into the fields of this option."""
        return {
            field.name: self.cleaned_data.get(self._named(chosen, field.name) or "")
            for field in fields_of(chosen.fields)
        }

    def _named(self, chosen: Option, name: str) -> str | None:
        known = (f"field-{name}", f"field-{chosen.key}-{name}")
        return next((each for each in known if each in self.fields), None)

    @property
    def chosen(self) -> Option:
        return self.asked.option(self.cleaned_data["option"])

    def shared(self) -> list[forms.BoundField]:
        """Fields of every option alike."""
        return [self[f"field-{field.name}"] for field in shared_fields(self.asked)]

    def options(self) -> list[dict[str, Any]]:
        """Each option with its own fields, for the page."""
        own = not shared_fields(self.asked)
        return [
            {
                "shown": shown,
                "chosen": self.data.get("option") == shown.option.key,
                "fields": [
                    self[f"field-{shown.option.key}-{field.name}"]
                    for field in fields_of(shown.option.fields)
                    if own
                ],
            }
            for shown in self.page.options
        ]


def _declared(asked: Asked) -> list[tuple[str, Field]]:
    if shared := shared_fields(asked):
        return [(f"field-{field.name}", field) for field in shared]
    return [
        (f"field-{option.key}-{field.name}", field)
        for option in asked.options
        for field in fields_of(option.fields)
    ]


def _form_field(field: Field) -> forms.Field:
    common: dict[str, Any] = {
        "label": field.label if field.required else f"{field.label} (may be left empty)",
        "help_text": field.help,
        # Whether it is missing depends on the option that is chosen, so the rules say it.
        "required": False,
    }
    if field.choices:
        choices = [("", "—"), *((str(choice), str(choice)) for choice in field.choices)]
        return forms.ChoiceField(choices=choices, **common)
    if field.type == "bool":
        return forms.BooleanField(**common)
    if field.type == "date":
        return forms.CharField(widget=forms.TextInput(attrs={"type": "date"}), **common)
    return forms.CharField(max_length=10_000, **common)


class DelegationForm(forms.Form):
    """Who answers in whose place, and until when."""

    giver = forms.ChoiceField(label="In the place of")
    to = forms.ChoiceField(label="Who answers")
    group = forms.ChoiceField(required=False, label="For")
    until = forms.DateField(
        label="Until the end of",
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="A day within the next year, in UTC. Then it is over by itself.",
    )
    because = forms.CharField(required=False, max_length=1000, label="Why (may be left empty)")
    tenant = forms.ChoiceField(label="Tenant")

    def __init__(self, choices: Choices, data: Any = None) -> None:
        super().__init__(data)
        self.may_give = bool(choices.givers)
        self._offer("giver", choices.givers)
        self._offer("to", choices.receivers, first=("", "—"))
        self._offer("group", choices.groups, first=("", "each of their groups"))
        self._offer("tenant", choices.tenants)
        if len(choices.tenants) == 1:
            self.fields["tenant"].widget = forms.HiddenInput()
            self.fields["tenant"].required = False

    def _offer(
        self, name: str, values: Iterable[str], *, first: tuple[str, str] | None = None
    ) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
        choices = [(value, value) for value in values]
        field.choices = [first, *choices] if first else choices

    @property
    def wish(self) -> dict[str, Any]:
        """What was filled in; a day lasts until its end."""
        said = self.cleaned_data
        offered = self.fields["tenant"].choices  # type: ignore[attr-defined]
        return {
            "to": said["to"],
            "giver": said["giver"],
            "group": said["group"],
            "because": said["because"],
            "until": datetime.combine(said["until"], time(23, 59, 59), tzinfo=UTC),
            "tenant": said["tenant"] or offered[0][0],
        }


class RuleForm(forms.Form):
    """What a rule says; only what can be undone is offered, and nothing is chosen beforehand."""

    name = forms.CharField(max_length=80, help_text="The record of each answer says it.")
    tenant = forms.ChoiceField(help_text="Whose decisions it answers.")
    place = forms.ChoiceField(
        label="Which calls", help_text="Only effects that declare how they are undone."
    )
    conditions = forms.CharField(
        required=False,
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        label="Conditions on each request, one a line",
        help_text="All of them have to fit every call: amount <= 100 or customer.country is DE. "
        "Left empty, every request fits.",
    )
    most = forms.IntegerField(
        min_value=1,
        max_value=10_000,
        label="At most how many decisions",
        help_text="Then it answers none any more.",
    )
    ends = forms.DateField(
        label="Until the end of",
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="A day, in UTC.",
    )
    because = forms.CharField(
        max_length=1000, label="Why nobody has to look", help_text="Stands in each record."
    )
    seen = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(
        self,
        *,
        places: Iterable[tuple[str, str]],
        tenants: Iterable[str],
        was: dict[str, Any] | None = None,
        data: Any = None,
    ) -> None:
        super().__init__(data, initial=was)
        self.fields["place"].choices = [("", "choose"), *places]  # type: ignore[attr-defined]
        self.fields["tenant"].choices = [(slug, slug) for slug in tenants]  # type: ignore[attr-defined]
        if was is not None:
            del self.fields["tenant"], self.fields["name"]

    @property
    def terms(self) -> dict[str, Any]:
        """What was filled in, as the ledger takes it; a day lasts until its end."""
        said = self.cleaned_data
        workflow, step, effect = said["place"].split("|")
        return {
            "workflow": workflow,
            "step": step,
            "effect": effect,
            "conditions": said["conditions"].replace("\r\n", "\n"),
            "most": said["most"],
            "ends_at": datetime.combine(said["ends"], time(23, 59, 59), tzinfo=UTC),
            "because": said["because"],
        }
