"""What an administrator fills in about people."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib.auth.models import User

from runs.queries.directory import Person
from runs.rules.roles import ADMINISTRATOR, ROLES

SEES = "See payloads: inputs, requests, answers and evidence in clear"


class _Roles(forms.Form):
    email = forms.EmailField(
        required=False, label="Mail address", help_text="Where they are told of decisions."
    )
    groups = forms.MultipleChoiceField(
        required=False,
        label="Roles",
        widget=forms.CheckboxSelectMultiple,
        choices=[(role.group, f"{role.word}: may {role.says}") for role in ROLES],
    )
    payloads = forms.BooleanField(
        required=False,
        label=SEES,
        help_text="A permission of its own; approvers and administrators have it by their role.",
    )


class PersonForm(_Roles):
    """Somebody new."""

    field_order = ("name", "email", "tenant", "groups", "payloads")
    name = forms.CharField(
        max_length=150,
        label="Name",
        validators=User._meta.get_field("username").validators,
        help_text="They sign in with it, and the audit says it. It cannot be changed later.",
    )
    tenant = forms.ChoiceField(label="Tenant", help_text="Whose runs they see.")

    def __init__(self, tenants: Mapping[int, str], data: Any = None) -> None:
        super().__init__(data)
        choices = [(str(pk), slug) for pk, slug in tenants.items()]
        self.fields["tenant"] = forms.ChoiceField(
            label="Tenant", choices=choices, help_text="Whose runs they see."
        )

    def clean_groups(self) -> list[str]:
        groups: list[str] = self.cleaned_data["groups"]
        if not groups:
            raise forms.ValidationError("Choose at least one role; a viewer may only look.")
        return groups

    @property
    def person(self) -> dict[str, Any]:
        said = self.cleaned_data
        return {
            "name": said["name"].strip(),
            "email": said["email"],
            "tenant_id": int(said["tenant"]),
            "groups": said["groups"],
            "payloads": said["payloads"],
        }


class RolesForm(_Roles):
    """What somebody who is there may do; `everywhere` only for who may do that themselves."""

    everywhere = forms.BooleanField(
        required=False,
        label="As an administrator of every tenant, those too that are made later",
    )

    def __init__(self, person: Person, *, above: bool, data: Any = None) -> None:
        now = {
            "email": person.user.email,
            "groups": [role.group for role in person.roles],
            "payloads": person.payloads,
            "everywhere": person.everywhere,
        }
        super().__init__(data, initial=now)
        if not above:
            del self.fields["everywhere"]

    def clean(self) -> dict[str, Any]:
        said = super().clean() or {}
        if said.get("everywhere") and ADMINISTRATOR.group not in said.get("groups", ()):
            self.add_error("everywhere", "Only an administrator can be one of every tenant.")
        return said

    @property
    def roles(self) -> dict[str, Any]:
        said = self.cleaned_data
        return {
            "email": said["email"],
            "groups": said["groups"],
            "payloads": said["payloads"],
            "everywhere": said.get("everywhere"),
        }
