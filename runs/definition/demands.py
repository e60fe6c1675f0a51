"""Refuses a value of the wrong kind where it is declared, in one sentence."""

from collections.abc import Iterable
from datetime import timedelta

from runs.definition.places import DeclarationError, Place


def require_positive(subject: str, value: object) -> None:
    """Refuse what is not a length of time above zero."""
    if not isinstance(value, timedelta) or value <= timedelta(0):
        raise DeclarationError(
            f"{subject} is {value!r}.",
            hint="Give a timedelta above zero, such as timedelta(seconds=30).",
        )


def require_callable(subject: str, value: object, shape: str) -> None:
    """Refuse what cannot be called."""
    if not callable(value):
        raise DeclarationError(f"{subject} is {value!r}.", hint=f"Give a function: {shape}.")


def paths(subject: str, values: object, *, place: Place | None = None) -> tuple[str, ...]:
    """Places in a JSON value: names joined by dots, `*` for any of them."""
    found = names(subject, values, place=place)
    for value in found:
        if not all(value.split(".")):
            raise DeclarationError(
                f"{subject} holds {value!r}.",
                hint='Write names joined by dots, such as "card.number" or "items.*.iban".',
                place=place,
            )
    return found


def names(subject: str, values: object, *, place: Place | None = None) -> tuple[str, ...]:
    """The given names as a tuple; a lone string would be read letter by letter, so it is refused."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise DeclarationError(
            f"{subject} is {values!r}.", hint=f"Write a list: [{values!r}].", place=place
        )
    found = tuple(values)
    for value in found:
        if not isinstance(value, str):
            raise DeclarationError(
                f"{subject} holds {value!r}.", hint="Give names as strings.", place=place
            )
    return found
