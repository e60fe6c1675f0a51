"""What a person fills in to start or move a run, and to have one begin by itself."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms

from runs.rules import canonical, inputs
from runs.rules.catching_up import CATCH_UP_SAYS, CatchUp
from runs.rules.corrections import if_cleared, may_be_empty, needs_a_word
from runs.rules.event_keys import EVENT_NAME
from runs.rules.overlap import OVERLAP_SAYS
from runs.rules.schedules import Wish
from runs.rules.wall_clock import DST_SAYS, DstPolicy

TYPED = 6


def _said(words: Mapping[Any, str]) -> list[tuple[str, str]]:
    return [(word.value, f"{word.value}: {text}") for word, text in words.items()]


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


class MoveForm(forms.Form):
    """Why a verb is used, and what its user saw."""

    because = forms.CharField(
        max_length=2000,
        label="Reason",
        help_text="Kept in the audit.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    seen = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput)


class ResumeForm(MoveForm):
    """A reason may be given; a longer deadline has to be, where the present one is over."""

    deadline = forms.FloatField(
        required=False,
        min_value=0.001,
        label="New deadline, in hours",
        help_text="Counted since the start, without the time paused or waiting for people.",
    )

    def __init__(self, *, deadline_is_over: bool, **more: Any) -> None:
        super().__init__(**more)
        self.fields["because"].required = False
        if deadline_is_over:
            self.fields["deadline"].required = True
        else:
            del self.fields["deadline"]


class ReplayForm(MoveForm):
    """From which checkpoint, and whether judgements are kept or made anew (R12)."""

    checkpoint = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    judgements = forms.ChoiceField(
        choices=[("keep", "keep: nothing is judged twice"), ("forget", "forget: judge anew")],
        help_text="What models have decided in the steps that are redone.",
    )


class RestartForm(MoveForm):
    """What is abandoned, and the typed confirmation where something cannot be undone."""

    checkpoint = forms.IntegerField(min_value=0, required=False, widget=forms.HiddenInput)

    def __init__(
        self, *, names: Sequence[str], unsettled: Sequence[str], grave: bool, **more: Any
    ) -> None:
        super().__init__(**more)
        self.names = names
        if unsettled:
            self.fields["abandon"] = forms.MultipleChoiceField(
                required=False,
                choices=[(key, key) for key in unsettled],
                widget=forms.CheckboxSelectMultiple,
                label="Abandon",
                help_text="Calls of which nobody will ever know whether they happened.",
            )
        if grave:
            self.fields["confirm"] = forms.CharField(
                max_length=200,
                label=f"Type the last {TYPED} characters of the run's reference or id",
                help_text="Something that cannot be undone would happen a second time.",
                widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
            )

    def clean_confirm(self) -> str:
        said = str(self.cleaned_data["confirm"]).strip()
        if said not in [name[-TYPED:] for name in self.names]:
            raise forms.ValidationError(
                f"Type the last {TYPED} characters of the run's reference, or of its id."
            )
        return said


class UndoForm(MoveForm):
    """The typed confirmation where the undo is final, and the password where the sign-in is old."""

    def __init__(self, *, grave: bool, stale: bool, **more: Any) -> None:
        super().__init__(**more)
        if grave:
            self.fields["confirm"] = forms.CharField(
                max_length=200,
                label=f"Type the last {TYPED} characters of the key that is undone",
                help_text="The undo cannot itself be undone.",
                widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
            )
        if grave and stale:
            self.fields["password"] = forms.CharField(
                required=False,
                max_length=200,
                label="Your password",
                help_text="You signed in more than 15 minutes ago. Without a password, follow a "
                "fresh sign-in link first: manage.py signin.",
                widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
            )


class CorrectForm(MoveForm):
    """The fields of a run's input as they are; one that is left as it is stays as it is.

    That a text is to be empty is said by a box of its own: an emptied field says so to nobody.
    """

    def __init__(
        self, *, declared: Sequence[inputs.Field], values: Mapping[str, Any], **more: Any
    ) -> None:
        super().__init__(**more)
        self.declared = declared
        made: dict[str, forms.Field] = {}
        for field in declared:
            made[f"in_{field.name}"] = _corrected(field, values)
            if may_be_empty(field) and values.get(field.name) != "":
                made[f"empty_{field.name}"] = _emptied(field)
        self.fields = made | self.fields

    def clean(self) -> dict[str, Any]:
        for field in self.declared:
            typed = str(self.cleaned_data.get(f"in_{field.name}") or "")
            changed = f"in_{field.name}" in self.changed_data
            if self._is_emptied(field) and typed and changed:
                self.add_error(f"in_{field.name}", "Either this text or the empty one: not both.")
            elif changed and not (typed or self._is_emptied(field)) and needs_a_word(field):
                error = "Tick below that it is to be the empty text, if that is meant."
                self.add_error(f"in_{field.name}", error)
        return self.cleaned_data

    @property
    def values(self) -> dict[str, Any]:
        """What was changed, read by its declared type."""
        return {
            field.name: ""
            if self._is_emptied(field)
            else inputs.parsed(field, str(self.cleaned_data[f"in_{field.name}"]))
            for field in self.declared
            if self._is_emptied(field) or f"in_{field.name}" in self.changed_data
        }

    def _is_emptied(self, field: inputs.Field) -> bool:
        return bool(self.cleaned_data.get(f"empty_{field.name}"))


def _emptied(field: inputs.Field) -> forms.Field:
    label = f"{field.name.replace('_', ' ').capitalize()}: make it the empty text"
    return forms.BooleanField(required=False, label=label, help_text=if_cleared(field))


def _corrected(field: inputs.Field, values: Mapping[str, Any]) -> forms.Field:
    made = _form_field(field)
    made.required = False
    made.initial = _as_typed(field, values[field.name]) if field.name in values else None
    return made


def _as_typed(field: inputs.Field, value: Any) -> Any:
    if isinstance(value, list) and field.items == "text":
        return "\n".join(map(str, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


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


class ScheduleForm(forms.Form):
    """A schedule as a person asks for it; what overlap does is chosen, never preselected."""

    slug = forms.CharField(max_length=60, label="Name", help_text="Such as nightly-sync.")
    name = forms.CharField(required=False, max_length=200, label="Name for people")
    tenant = forms.ChoiceField(help_text="Whose runs it starts.")
    workflow = forms.ChoiceField(help_text="Those that declare a heartbeat with a grace.")
    version = forms.IntegerField(
        required=False, min_value=1, help_text="Empty: the latest at the time it is due."
    )
    cron = forms.CharField(
        required=False, max_length=200, help_text="minute, hour, day, month, weekday: 0 2 * * *"
    )
    every = forms.FloatField(
        required=False, min_value=1, label="Or every, in seconds", help_text="Instead of cron."
    )
    zone = forms.CharField(
        max_length=60, initial="UTC", label="Time zone", help_text="Such as Europe/Berlin."
    )
    dst = forms.ChoiceField(
        label="When clocks change", initial=DstPolicy.ONCE.value, choices=_said(DST_SAYS)
    )
    overlap = forms.ChoiceField(
        label="If the run before still goes on", choices=[("", "choose"), *_said(OVERLAP_SAYS)]
    )
    catch_up = forms.ChoiceField(
        label="After a time in which nobody looked",
        initial=CatchUp.LATEST.value,
        choices=_said(CATCH_UP_SAYS),
    )
    window = forms.FloatField(
        required=False, min_value=0, label="Catch-up window, in seconds", help_text="For all."
    )
    jitter = forms.FloatField(
        required=False,
        min_value=0,
        label="Jitter, in seconds",
        help_text="Later by at most this; for one nominal time always the same.",
    )
    ends = forms.DateTimeField(
        required=False, help_text="In the zone that this page is read in, such as 2027-01-31 00:00."
    )
    input = forms.JSONField(
        required=False, initial=dict, help_text="An object with the fields of the workflow's input."
    )
    labels = forms.JSONField(required=False, initial=dict, help_text='Such as {"team": "books"}.')
    revision = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(
        self,
        *,
        workflows: Sequence[str],
        tenants: Iterable[str],
        was: Wish | None = None,
        revision: int = 1,
        **more: Any,
    ) -> None:
        initial = {**_asked(was), "revision": revision} if was else {}
        super().__init__(initial=initial, **more)
        self.fields["tenant"].choices = [(slug, slug) for slug in tenants]  # type: ignore[attr-defined]
        self.fields["workflow"].choices = [(name, name) for name in workflows]  # type: ignore[attr-defined]
        if was:
            self.fields["slug"].disabled = True
            del self.fields["tenant"]

    @property
    def wish(self) -> Wish:
        said = self.cleaned_data
        return Wish(
            slug=said["slug"],
            name=said["name"].strip(),
            workflow=said["workflow"],
            version=said["version"],
            cron=said["cron"].strip(),
            every=said["every"],
            zone=said["zone"].strip(),
            dst=said["dst"],
            overlap=said["overlap"],
            catch_up=said["catch_up"],
            window=said["window"] or 0,
            jitter=said["jitter"] or 0,
            ends=said["ends"],
            data=said["input"] or {},
            labels=said["labels"] or {},
        )

    def explain(self, errors: Mapping[str, str]) -> None:
        """Each sentence at the field it is about."""
        for name, error in errors.items():
            field, _, of_input = name.partition(".")
            told = f"{of_input}: {error}" if of_input else error
            self.add_error(field if field in self.fields else None, told)


def _asked(wish: Wish) -> dict[str, Any]:
    same = ("slug", "workflow", "version", "cron", "every", "zone", "dst", "overlap", "catch_up")
    asked: dict[str, Any] = {name: getattr(wish, name) for name in ("name", *same)}
    more = {"window": wish.window or None, "jitter": wish.jitter or None, "ends": wish.ends}
    return asked | more | {"input": dict(wish.data), "labels": dict(wish.labels)}


class EventForm(forms.Form):
    """An event as a person brings it in."""

    name = forms.RegexField(EVENT_NAME.pattern + r"\Z", max_length=200, label="Name")
    correlation_id = forms.CharField(
        max_length=300, label="Correlation id", help_text="Which one: an order, a file."
    )
    payload = forms.CharField(
        label="Payload",
        max_length=256 * 1024,
        help_text="A JSON object; the step that waits gets exactly this.",
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
    )
    message_id = forms.CharField(max_length=300, widget=forms.HiddenInput)
    tenant = forms.ChoiceField(label="Tenant")

    def __init__(self, tenants: Mapping[int, str], data: Any = None, **more: Any) -> None:
        super().__init__(data, **more)
        choices = [(str(pk), slug) for pk, slug in tenants.items()]
        self.fields["tenant"] = forms.ChoiceField(label="Tenant", choices=choices)

    def clean_payload(self) -> dict[str, Any]:
        try:
            read = json.loads(self.cleaned_data["payload"])
            canonical.dumps(read)
        except (ValueError, RecursionError) as wrong:
            raise forms.ValidationError(f"That is no JSON that can be kept: {wrong}") from None
        if not isinstance(read, dict):
            raise forms.ValidationError("It has to be a JSON object, such as {}.")
        return read

    @property
    def event(self) -> dict[str, Any]:
        """What is delivered, once the form is valid."""
        said = dict(self.cleaned_data)
        tenant = int(said.pop("tenant"))
        return {**said, "tenant_id": tenant}


class EventKeyForm(forms.Form):
    """A key for a sender outside."""

    name = forms.CharField(max_length=100, label="Name", help_text="Whose key it is.")
    events = forms.CharField(
        required=False,
        max_length=2000,
        label="Events",
        help_text="The names it may deliver, with spaces between; empty: every event of its tenant.",
    )
    tenant = forms.ChoiceField(label="Tenant")

    def __init__(self, tenants: Mapping[int, str], data: Any = None) -> None:
        super().__init__(data)
        choices = [(str(pk), slug) for pk, slug in tenants.items()]
        self.fields["tenant"] = forms.ChoiceField(label="Tenant", choices=choices)

    @property
    def key(self) -> dict[str, Any]:
        """What the key is to be, once the form is valid."""
        said = self.cleaned_data
        return {
            "tenant_id": int(said["tenant"]),
            "name": said["name"].strip(),
            "events": said["events"].split(),
        }
