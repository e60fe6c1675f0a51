"""What a run may be started with: the fields of `Input`, and data checked against them."""

from __future__ import annotations

import copy
import math
import types
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from runs.definition.workflow import Workflow
from runs.rules import canonical

SCALARS: dict[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    date: "date",
    datetime: "date and time",
    dict: "object",
    list: "list",
}
EXAMPLES = {date: "2026-01-31", datetime: "2026-01-31T09:00:00+00:00"}


class UnsupportedType(TypeError):
    """A field of `Input` has a type that no start form and no JSON can give."""


class InvalidInput(ValueError):
    """Data that a workflow cannot be started with; `errors` has one sentence a field."""

    def __init__(self, workflow: str, errors: Mapping[str, str]) -> None:
        self.errors = dict(errors)
        listed = "; ".join(f"{name}: {error}" for name, error in self.errors.items())
        super().__init__(f"{workflow} cannot start with this input: {listed}")


class _Wrong(ValueError):
    """One value that does not fit its field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of `Input`: `type` in words, `choices` where only some values fit."""

    name: str
    type: str
    required: bool
    default: Any = None
    help: str = ""
    choices: tuple[Any, ...] = ()
    nullable: bool = False
    items: str = ""


def fields_of(cls: type[Workflow]) -> tuple[Field, ...]:
    """The fields of `Input` in the order they are written."""
    hints = _hints(cls)
    return tuple(_field(cls, name, hint) for name, hint in hints.items())


def validated(cls: type[Workflow], data: object) -> dict[str, Any]:
    """The data as the run will read it: every field there, defaults filled in, JSON throughout."""
    if not isinstance(data, Mapping):
        raise InvalidInput(cls.name, {"input": f"expected an object with fields, got {_shown(data)}"})
    hints = _hints(cls)
    errors = {str(name): _unknown(name, hints) for name in data if name not in hints}
    found: dict[str, Any] = {}
    for name, hint in hints.items():
        try:
            found[name] = _value(cls, name, hint, data)
        except _Wrong as wrong:
            errors[name] = str(wrong)
    if errors:
        raise InvalidInput(cls.name, errors)
    return found


def fitting(hint: Any, value: Any) -> Any:
    """The value as JSON, if it fits the annotation."""
    base, _ = _bare(hint)
    options, nullable = _options(base)
    if value is None:
        if nullable:
            return None
        raise _Wrong("is missing a value (null)")
    if len(options) == 1:
        return _fit(options[0], value)
    for option in options:
        try:
            return _fit(option, value)
        except _Wrong:
            continue
    raise _Wrong(f"expected {' or '.join(_named(option) for option in options)}, got {_shown(value)}")


def parsed(field: Field, text: str) -> Any:
    """What a person typed into a start form, as the value `validated` expects."""
    if not text and (field.nullable or not field.required):
        return None if field.nullable else copy.deepcopy(field.default)
    match field.type:
        case "whole number":
            return _or_text(int, text)
        case "number":
            return _or_text(float, text)
        case "true or false":
            return text.lower() in {"true", "on", "yes", "1"}
        case "list":
            lines = [line for line in text.splitlines() if line.strip()]
            return lines if field.items == "text" else [_or_text(canonical.loads, line) for line in lines]
        case "object":
            return _or_text(canonical.loads, text)
        case "one of":
            return next((choice for choice in field.choices if str(choice) == text), text)
    return text


def _or_text(read: Any, text: str) -> Any:
    try:
        return read(text)
    except ValueError:
        return text


def _hints(cls: type[Workflow]) -> dict[str, Any]:
    if cls.Input is None:
        return {}
    try:
        return get_type_hints(cls.Input, include_extras=True)
    except NameError as error:
        raise UnsupportedType(f"Input has an annotation that cannot be read: {error}") from None


def _field(cls: type[Workflow], name: str, hint: Any) -> Field:
    base, explained = _bare(hint)
    options, nullable = _options(base)
    for option in options:
        _require_supported(option)
    literal = get_origin(options[0]) is Literal
    default = getattr(cls.Input, name, None)
    return Field(
        name=name,
        type=" or ".join("one of" if get_origin(option) is Literal else _named(option) for option in options),
        required=not hasattr(cls.Input, name) and not nullable,
        default=fitting(hint, default) if hasattr(cls.Input, name) else None,
        help=explained,
        choices=get_args(options[0]) if literal else (),
        nullable=nullable,
        items=_named(get_args(options[0])[0]) if get_origin(options[0]) is list else "",
    )


def _value(cls: type[Workflow], name: str, hint: Any, data: Mapping[str, Any]) -> Any:
    if name in data:
        return fitting(hint, data[name])
    if hasattr(cls.Input, name):
        return fitting(hint, copy.deepcopy(getattr(cls.Input, name)))
    if _options(_bare(hint)[0])[1]:
        return None
    raise _Wrong("is required")


def _bare(hint: Any) -> tuple[Any, str]:
    if get_origin(hint) is Annotated:
        base, *notes = get_args(hint)
        return base, " ".join(note for note in notes if isinstance(note, str))
    return hint, ""


def _options(hint: Any) -> tuple[list[Any], bool]:
    if get_origin(hint) in (Union, types.UnionType):
        options = [option for option in get_args(hint) if option is not type(None)]
        return options, type(None) in get_args(hint)
    return [hint], False


def _require_supported(hint: Any) -> None:
    origin = get_origin(hint)
    if hint in SCALARS or origin is dict:
        return
    if origin is list and len(get_args(hint)) == 1:
        _require_supported(get_args(hint)[0])
        return
    if origin is Literal and all(isinstance(choice, str | int) for choice in get_args(hint)):
        return
    raise UnsupportedType(
        f"{getattr(hint, '__name__', hint)} is no type of input; use str, int, float, bool, date, datetime, dict, "
        "list[...], Literal[...], or one of these with `| None`."
    )


def _fit(hint: Any, value: Any) -> Any:
    origin = get_origin(hint)
    if origin is Literal:
        return _fit_choice(get_args(hint), value)
    if hint in (date, datetime):
        return _fit_time(hint, value)
    if hint is list or origin is list:
        return _fit_list(hint, value)
    if hint is dict or origin is dict:
        return _fit_json(dict, value)
    return _fit_scalar(hint, value)


def _fit_scalar(hint: Any, value: Any) -> Any:
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    right = isinstance(value, hint) and (hint is bool or not isinstance(value, bool))
    if not right or (isinstance(value, float) and not math.isfinite(value)):
        raise _Wrong(f"expected {_named(hint)}, got {_shown(value)}")
    return _fit_json(hint, value)


def _fit_json(hint: Any, value: Any) -> Any:
    if not isinstance(value, hint):
        raise _Wrong(f"expected {_named(hint)}, got {_shown(value)}")
    try:
        canonical.dumps(value)
    except canonical.NotCanonical as error:
        raise _Wrong(str(error)) from None
    return copy.deepcopy(value)


def _fit_list(hint: Any, value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise _Wrong(f"expected a list, got {_shown(value)}")
    if not get_args(hint):
        return _fit_json(list, list(value))
    fitted = []
    for at, item in enumerate(value, start=1):
        try:
            fitted.append(_fit(get_args(hint)[0], item))
        except _Wrong as wrong:
            raise _Wrong(f"item {at}: {wrong}") from None
    return fitted


def _fit_choice(choices: tuple[Any, ...], value: Any) -> Any:
    for choice in choices:
        if type(choice) is type(value) and choice == value:
            return choice
    raise _Wrong(f"expected one of {', '.join(repr(choice) for choice in choices)}, got {_shown(value)}")


def _fit_time(hint: Any, value: Any) -> str:
    if type(value) is hint:
        moment = value
    else:
        try:
            moment = hint.fromisoformat(value)
        except (TypeError, ValueError):
            raise _Wrong(f"expected a {_named(hint)} such as {EXAMPLES[hint]}, got {_shown(value)}") from None
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise _Wrong(f"has no time zone; write it such as {EXAMPLES[hint]}")
        moment = moment.astimezone(UTC)
    return str(moment.isoformat())


def _unknown(name: object, hints: Mapping[str, Any]) -> str:
    return f"is no field of this workflow (fields: {', '.join(hints) or 'none'})"


def _named(hint: Any) -> str:
    origin = get_origin(hint)
    if origin is Literal:
        return f"one of {', '.join(repr(choice) for choice in get_args(hint))}"
    return SCALARS.get(hint) or SCALARS.get(origin) or str(hint)


def _shown(value: object) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text[:60]}{'…' if len(text) > 60 else ''}"
