"""What has to be filled in with an answer: the declared fields, and whether values fit them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from runs.rules.refusals import FieldErrors

LONGEST = 10_000
TRUE, FALSE = {"true", "on", "yes", "1"}, {"", "false", "off", "no", "0"}


class FieldsRefused(FieldErrors):
    """What was filled in does not fit; `errors` has one sentence a field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of an option, as `{"type", "label", "required", "help", "choices"}` declares it."""

    name: str
    type: str
    label: str
    required: bool
    help: str = ""
    choices: tuple[Any, ...] = ()


def fields_of(declared: Mapping[str, Any]) -> tuple[Field, ...]:
    """The declared fields; a bare type name is short for a required field of that type."""
    return tuple(_field(name, said) for name, said in declared.items())


def _field(name: str, said: Any) -> Field:
    if not isinstance(said, Mapping):
        said = {"type": said}
    return Field(
        name=name,
        type=str(said.get("type", "str")),
        label=str(said.get("label") or name.replace("_", " ").capitalize()),
        required=bool(said.get("required", True)),
        help=str(said.get("help", "")),
        choices=tuple(said.get("choices", ())),
    )


def validated(declared: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The values as JSON, each of its declared type; fields nobody declared are refused."""
    fields = fields_of(declared)
    known = ", ".join(field.name for field in fields) or "none"
    errors = dict.fromkeys(given, f"is no field of this option (fields: {known})")
    found: dict[str, Any] = {}
    for field in fields:
        errors.pop(field.name, None)
        try:
            found[field.name] = _value(field, given.get(field.name))
        except ValueError as misfit:
            errors[field.name] = str(misfit)
    if errors:
        raise FieldsRefused(errors)
    return found


def _value(field: Field, given: Any) -> Any:
    if given is None or (isinstance(given, str) and not given.strip()):
        if field.type == "bool":
            return False
        if field.required:
            raise ValueError("is required")
        return None
    if field.choices:
        return _chosen(field, given)
    read: Callable[[Any], Any] = READERS.get(field.type, _text)
    return read(given)


def _chosen(field: Field, given: Any) -> Any:
    for choice in field.choices:
        if str(choice) == str(given):
            return choice
    raise ValueError(f"must be one of {', '.join(map(str, field.choices))}")


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise ValueError("must be text")
    if len(given) > LONGEST:
        raise ValueError(f"is longer than {LONGEST:,} characters")
    return given.strip()


def _whole(given: Any) -> int:
    try:
        value = int(str(given).strip())
    except ValueError:
        raise ValueError("must be a whole number") from None
    if abs(value) > 2**53 - 1:
        raise ValueError("is too large; write it as text")
    return value


def _number(given: Any) -> float:
    try:
        value = float(str(given).strip())
    except ValueError:
        raise ValueError("must be a number") from None
    if not math.isfinite(value):
        raise ValueError("must be a finite number")
    return value


def _truth(given: Any) -> bool:
    word = str(given).strip().lower()
    if word in TRUE:
        return True
    if word in FALSE:
        return False
    raise ValueError("must be true or false")


def _date(given: Any) -> str:
    try:
        return date.fromisoformat(str(given).strip()).isoformat()
    except ValueError:
        raise ValueError("must be a date such as 2026-01-31") from None


READERS: dict[str, Callable[[Any], Any]] = {
    "str": _text,
    "text": _text,
    "int": _whole,
    "float": _number,
    "number": _number,
    "bool": _truth,
    "date": _date,
}
