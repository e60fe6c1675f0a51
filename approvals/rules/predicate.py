"""Conditions on a request, one a line: `amount <= 100`; what cannot be read or found never fits."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

MOST = 20
LONGEST = 200
PATH = r"[A-Za-z_][\w-]*(?:\.[A-Za-z_0-9][\w-]*)*"
# Longest first, so that “is not” is not read as “is”.
WORDS = (
    "does not contain",
    "starts with",
    "ends with",
    "contains",
    "one of",
    "is not",
    "is",
    "<=",
    ">=",
    "<",
    ">",
)
SIGNS = "|".join(word for word in WORDS if not word[0].isalpha())
SPELLED = "|".join(word for word in WORDS if word[0].isalpha())
# Spaces around what is spelled: “is notable” is no “is not able”, and “discount” holds no “is”.
LINE = re.compile(rf"({PATH})(?:\s+({SPELLED})\s+|\s*({SIGNS})\s*)(\S.*)")


class Unreadable(ValueError):
    """A line that is no condition; the message names the line and what would be one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """`path` names a value of the request; parts of it are separated by dots."""

    path: str
    word: str
    value: str

    def fits(self, request: Any) -> bool:
        found = _at(request, self.path)
        return found is not None and _FITS[self.word](found, self.value)


def conditions_of(text: str) -> tuple[Condition, ...]:
    """Every line is one condition, and all have to fit. Raises Unreadable."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > MOST:
        raise Unreadable(f"These are {len(lines)} conditions; a rule takes at most {MOST}.")
    return tuple(_condition(line) for line in lines)


def _condition(line: str) -> Condition:
    found = LINE.fullmatch(line)
    if found is None or len(line) > LONGEST:
        raise Unreadable(
            f"“{line[:60]}” is no condition. Write a name of the request, one of "
            f"{', '.join(WORDS)}, and a value: amount <= 100"
        )
    condition = Condition(path=found[1], word=found[2] or found[3], value=found[4].strip())
    if condition.word in ("<", "<=", ">", ">=") and _number(condition.value) is None:
        raise Unreadable(f"“{line[:60]}”: {condition.word} takes a number.")
    return condition


def all_fit(conditions: tuple[Condition, ...], request: Any) -> bool:
    return all(condition.fits(request) for condition in conditions)


def _at(request: Any, path: str) -> Any:
    found = request
    for name in path.split("."):
        if isinstance(found, Mapping):
            found = found.get(name)
        elif isinstance(found, list) and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        else:
            return None
    return found


def _number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = Decimal(str(value).strip())
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def _compared(fits: Callable[[Decimal, Decimal], bool]) -> Callable[[Any, str], bool]:
    """Numbers only: a text that looks like one in the request is no number."""

    def compare(found: Any, value: str) -> bool:
        one = None if isinstance(found, str) else _number(found)
        other = _number(value)
        return one is not None and other is not None and fits(one, other)

    return compare


def _same(found: Any, value: str) -> bool:
    if isinstance(found, bool):
        return value.lower() == str(found).lower()
    if isinstance(found, str):
        return found == value
    one, other = _number(found), _number(value)
    return one is not None and other is not None and one == other


def _one_of(found: Any, value: str) -> bool:
    return any(_same(found, each.strip()) for each in value.split(",") if each.strip())


def _text(fits: Callable[[str, str], bool]) -> Callable[[Any, str], bool]:
    return lambda found, value: isinstance(found, str) and fits(found, value)


_FITS: dict[str, Callable[[Any, str], bool]] = {
    "is": _same,
    "is not": lambda found, value: isinstance(found, str | int | float) and not _same(found, value),
    "one of": _one_of,
    "contains": _text(lambda found, value: value in found),
    "does not contain": _text(lambda found, value: value not in found),
    "starts with": _text(str.startswith),
    "ends with": _text(str.endswith),
    "<": _compared(lambda one, other: one < other),
    "<=": _compared(lambda one, other: one <= other),
    ">": _compared(lambda one, other: one > other),
    ">=": _compared(lambda one, other: one >= other),
}
