"""What a run may be started with: the fields of `Input`, and data checked against them."""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from runs.definition.workflow import Workflow
from runs.rules.fitting import WORDS, Misfit, fitted, options_of, shown, supported, word_for


class UnusableInput(TypeError):
    """`Input` itself is written so that nothing can fit it; `hint` says what to write."""

    def __init__(self, message: str, *, hint: str) -> None:
        self.hint = hint
        super().__init__(message)


class InvalidInput(ValueError):
    """Data that a workflow cannot be started with; `errors` has one sentence a field."""

    def __init__(self, workflow: str, errors: Mapping[str, str]) -> None:
        self.workflow, self.errors = workflow, dict(errors)
        listed = "; ".join(f"{name}: {error}" for name, error in self.errors.items())
        super().__init__(f"{workflow} cannot start with this input: {listed}")


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
    _refuse_fields_without_a_type(cls)
    return tuple(_field(cls, name, hint) for name, hint in _hints(cls).items())


def names_of(cls: type[Workflow]) -> tuple[str, ...]:
    """The names of the fields, also where their types are wrong."""
    classes = reversed(cls.Input.__mro__) if cls.Input else ()
    return tuple({name: None for base in classes for name in inspect.get_annotations(base)})


def validated(cls: type[Workflow], data: object) -> dict[str, Any]:
    """The data as the run will read it: every field there, defaults filled in, JSON throughout."""
    if not isinstance(data, Mapping):
        raise InvalidInput(
            cls.name, {"input": f"expected an object with fields, got {shown(data)}"}
        )
    hints = _hints(cls)
    unknown = f"is no field of this workflow (fields: {', '.join(hints) or 'none'})"
    errors = {str(name): unknown for name in data if name not in hints}
    found: dict[str, Any] = {}
    for name, hint in hints.items():
        try:
            found[name] = _value(cls, name, hint, data)
        except Misfit as misfit:
            errors[name] = str(misfit)
    if errors:
        raise InvalidInput(cls.name, errors)
    return found


def parsed(field: Field, text: str) -> Any:
    """What a person typed into a start form, as a value for `validated`; what cannot be read stays text."""
    if not text:
        return None if field.nullable else field.default if not field.required else text
    for choice in field.choices:
        if str(choice) == text:
            return choice
    if field.type == "list" and field.items == "text":
        return [line for line in text.splitlines() if line.strip()]
    read = _READERS.get(field.type, str)
    try:
        return read(text)
    except ValueError:
        return text


def _truth(text: str) -> bool:
    words = {
        "true": True,
        "on": True,
        "yes": True,
        "1": True,
        "false": False,
        "off": False,
        "no": False,
        "0": False,
    }
    try:
        return words[text.strip().lower()]
    except KeyError:
        raise ValueError(text) from None


_READERS: dict[str, Callable[[str], Any]] = {
    "whole number": int,
    "number": float,
    "true or false": _truth,
    "list": json.loads,
    "object": json.loads,
}


def _refuse_fields_without_a_type(cls: type[Workflow]) -> None:
    typed = names_of(cls)
    for name, value in vars(cls.Input or object).items():
        if not name.startswith("_") and name not in typed and not callable(value):
            raise UnusableInput(
                f"{name} has no type, so it is no field",
                hint=f"Write `{name}: str`, or what it is.",
            )


def _hints(cls: type[Workflow]) -> dict[str, Any]:
    if cls.Input is None:
        return {}
    try:
        return get_type_hints(cls.Input, include_extras=True)
    except NameError as error:
        raise UnusableInput(
            f"an annotation cannot be read: {error}",
            hint="Import what it names at the top of the module, outside `if TYPE_CHECKING`.",
        ) from None


def _field(cls: type[Workflow], name: str, hint: Any) -> Field:
    options, nullable = options_of(hint)
    _require_supported(name, options)
    lone = options[0] if len(options) == 1 else None
    given = hasattr(cls.Input, name)
    return Field(
        name=name,
        type=" or ".join(
            "one of" if get_origin(option) is Literal else word_for(option) for option in options
        ),
        required=not given and not nullable,
        default=_default(cls, name, hint) if given else None,
        help=" ".join(note for note in get_args(hint)[1:] if isinstance(note, str))
        if get_origin(hint) is Annotated
        else "",
        choices=get_args(lone) if get_origin(lone) is Literal else (),
        nullable=nullable,
        items=word_for(get_args(lone)[0]) if get_origin(lone) is list else "",
    )


def _require_supported(name: str, options: list[Any]) -> None:
    for option in options:
        if not supported(option):
            raise UnusableInput(
                f"{name} has the type {getattr(option, '__name__', option)}, which JSON cannot give",
                hint=f"Use {', '.join(kind.__name__ for kind in WORDS)}, list[...], Literal[...], "
                "or one of these with `| None`.",
            )


def _default(cls: type[Workflow], name: str, hint: Any) -> Any:
    try:
        return fitted(hint, getattr(cls.Input, name))
    except Misfit as misfit:
        raise UnusableInput(
            f"the default of {name} does not fit its type: {misfit}",
            hint="Correct the default or the type.",
        ) from None


def _value(cls: type[Workflow], name: str, hint: Any, data: Mapping[str, Any]) -> Any:
    if name in data:
        return fitted(hint, data[name])
    if hasattr(cls.Input, name):
        return fitted(hint, getattr(cls.Input, name))
    if options_of(hint)[1]:
        return None
    raise Misfit("is required")
