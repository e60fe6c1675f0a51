"""Whether one value fits one annotation of `Input`, and the JSON it becomes."""

import copy
import math
import types
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from runs.rules import canonical

WORDS: dict[Any, str] = {
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


class Misfit(ValueError):
    """This value does not fit its field; the text goes on after the field's name."""


def fitted(hint: Any, value: Any) -> Any:
    """The value as JSON, if it fits the annotation."""
    options, nullable = options_of(hint)
    if value is None:
        if nullable:
            return None
        raise Misfit("may not be null")
    if len(options) == 1:
        return _fit(options[0], value)
    for option in options:
        try:
            return _fit(option, value)
        except Misfit:
            continue
    raise Misfit(f"expected {' or '.join(map(word_for, options))}, got {shown(value)}")


def options_of(hint: Any) -> tuple[list[Any], bool]:
    """The kinds of value an annotation allows, and whether null is one of them."""
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) in (Union, types.UnionType):
        options = [option for option in get_args(hint) if option is not type(None)]
        return options, len(options) < len(get_args(hint))
    return [hint], False


def supported(hint: Any) -> bool:
    """Whether JSON can give a value of this kind."""
    origin = get_origin(hint)
    if origin is list:
        return len(get_args(hint)) == 1 and supported(get_args(hint)[0])
    if origin is Literal:
        return all(isinstance(choice, str | int) for choice in get_args(hint))
    return origin is dict or hint in WORDS


def word_for(hint: Any) -> str:
    """A kind of value in words."""
    origin = get_origin(hint)
    if origin is Literal:
        return f"one of {', '.join(repr(choice) for choice in get_args(hint))}"
    return WORDS.get(hint) or WORDS.get(origin) or str(hint)


def shown(value: object) -> str:
    """A value as a message shows it: its type, and not too much of it."""
    text = repr(value)
    return f"{type(value).__name__} {text[:60]}{'…' if len(text) > 60 else ''}"


def _fit(hint: Any, value: Any) -> Any:
    origin = get_origin(hint)
    if origin is Literal:
        return _fit_choice(get_args(hint), value)
    if hint in (date, datetime):
        return _fit_time(hint, value)
    if list in (hint, origin):
        return _fit_list(hint, value)
    if dict in (hint, origin):
        return _fit_json(dict, value)
    return _fit_scalar(hint, value)


def _fit_choice(choices: tuple[Any, ...], value: Any) -> Any:
    for choice in choices:
        if type(choice) is type(value) and choice == value:
            return choice
    listed = ", ".join(repr(choice) for choice in choices)
    raise Misfit(f"expected one of {listed}, got {shown(value)}")


def _fit_time(hint: Any, value: Any) -> str:
    moment = _moment(hint, value)
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise Misfit(f"has no time zone; write it such as {EXAMPLES[datetime]}")
        moment = moment.astimezone(UTC)
    return moment.isoformat()


def _moment(hint: Any, value: Any) -> date:
    if type(value) is hint:
        return value  # type: ignore[no-any-return]
    try:
        return hint.fromisoformat(value)  # type: ignore[no-any-return]
    except (TypeError, ValueError):
        example = EXAMPLES[hint]
        raise Misfit(f"expected a {word_for(hint)} such as {example}, got {shown(value)}") from None


def _fit_list(hint: Any, value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise Misfit(f"expected a list, got {shown(value)}")
    if not get_args(hint):
        return _fit_json(list, list(value))
    return [_fit_item(get_args(hint)[0], item, at) for at, item in enumerate(value, start=1)]


def _fit_item(hint: Any, item: Any, at: int) -> Any:
    try:
        return fitted(hint, item)
    except Misfit as misfit:
        raise Misfit(f"item {at}: {misfit}") from None


def _fit_scalar(hint: Any, value: Any) -> Any:
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    right = isinstance(value, hint) and (hint is bool or not isinstance(value, bool))
    if not right or (isinstance(value, float) and not math.isfinite(value)):
        raise Misfit(f"expected {word_for(hint)}, got {shown(value)}")
    return _fit_json(hint, value)


def _fit_json(hint: Any, value: Any) -> Any:
    if not isinstance(value, hint):
        raise Misfit(f"expected {word_for(hint)}, got {shown(value)}")
    try:
        canonical.dumps(value)
    except canonical.NotCanonical as error:
        raise Misfit(str(error)) from None
    return copy.deepcopy(value)
