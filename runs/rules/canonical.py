"""One text for one value: canonical JSON by RFC 8785, and the digest of that text."""

import hashlib
import json
import math
from collections.abc import Sequence
from typing import Any

import rfc8785

from runs.definition.effects import Secret

LARGEST = 2**53 - 1
DEEPEST = 200
SECRET_MARK = "$secret"  # noqa: S105

_ENCODE_FIRST = {
    "Decimal": "write it as a string",
    "datetime": "write it with isoformat()",
    "date": "write it with isoformat()",
    "time": "write it with isoformat()",
    "timedelta": "write its total_seconds()",
    "bytes": "write it as base64, or store it as an artifact",
    "UUID": "write str() of it",
    "set": "write a sorted list",
    "frozenset": "write a sorted list",
}


class NotCanonical(ValueError):
    """This value has no canonical JSON text; the message names the path and what to write instead."""

    def __init__(self, why: str, *, path: str = "") -> None:
        self.why = why
        self.path = f"${path}"
        super().__init__(f"{self.path}: {why}")

    def inside(self, where: str) -> "NotCanonical":
        """The same complaint, seen from the container."""
        return NotCanonical(self.why, path=f"{where}{self.path[1:]}")


def dumps(value: Any) -> str:
    """The one text of this value: equal for equal values on every Python, time zone and dict order."""
    if _plain(value, depth=0):
        return _ENCODER.encode(value)
    return rfc8785.dumps(_marked(value)).decode()


def digest(text: str) -> str:
    """SHA-256 of a text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def loads(text: str) -> Any:
    """The value of a text that `dumps` wrote."""
    return json.loads(text, parse_int=_whole, parse_constant=_refuse_constant)


def _whole(digits: str) -> int | float:
    # RFC 8785 writes 1e20 as a whole number; read as one, it could not be written again.
    number = int(digits)
    return number if abs(number) <= LARGEST else float(digits)


def with_secrets(value: Any, values: dict[str, str]) -> Any:
    """A loaded value with every mark of a secret replaced by the secret; never store the result."""
    if isinstance(value, dict):
        if value.keys() == {SECRET_MARK}:
            return values[value[SECRET_MARK]]
        return {key: with_secrets(item, values) for key, item in value.items()}
    if isinstance(value, list):
        return [with_secrets(item, values) for item in value]
    return value


def secrets_in(value: Any) -> frozenset[str]:
    """The names of all secrets that a loaded value asks for."""
    if isinstance(value, dict):
        if value.keys() == {SECRET_MARK}:
            return frozenset({value[SECRET_MARK]})
        return frozenset().union(*(secrets_in(item) for item in value.values()))
    if isinstance(value, list):
        return frozenset().union(*(secrets_in(item) for item in value))
    return frozenset()


def _plain(value: Any, *, depth: int) -> bool:
    """Refuse what has no canonical text; whether the standard library writes the same as RFC 8785."""
    if depth > DEEPEST:
        raise NotCanonical(f"nested deeper than {DEEPEST} levels; store it as an artifact.")
    match value:
        case str():
            return _plain_text(value)
        case None | bool() | Secret():
            return True
        case int():
            return _plain_whole(value)
        case dict():
            return _plain_members(value, depth=depth + 1)
        case list() | tuple():
            return _plain_items(value, depth=depth + 1)
        case float():
            return _plain_number(value)
    raise NotCanonical(_not_json(value))


def _plain_text(value: str) -> bool:
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise NotCanonical(
            f"the text holds a lone surrogate at position {error.start}; decode it again with "
            "errors='replace', or store the raw bytes as an artifact."
        ) from None
    return True


def _plain_whole(value: int) -> bool:
    if abs(value) > LARGEST:
        raise NotCanonical(f"the whole number {value} is beyond 2^53; write it as a string.")
    return True


def _plain_number(value: float) -> bool:
    if not math.isfinite(value):
        raise NotCanonical(f"{value} is no JSON number; write null or a string.")
    # Between these bounds Python and ECMAScript print a fraction alike.
    return 1e-4 <= abs(value) < 1e16 and not value.is_integer()


def _plain_items(values: Sequence[Any], *, depth: int) -> bool:
    plain = True
    for at, item in enumerate(values):
        try:
            plain &= _plain(item, depth=depth)
        except NotCanonical as error:
            raise error.inside(f"[{at}]") from None
    return plain


def _plain_members(value: dict[Any, Any], *, depth: int) -> bool:
    plain = True
    for key, item in value.items():
        try:
            plain &= _plain_key(key) & _plain(item, depth=depth)
        except NotCanonical as error:
            simple = isinstance(key, str) and key.isidentifier()
            raise error.inside(f".{key}" if simple else f"[{key!r}]") from None
    return plain


def _plain_key(key: Any) -> bool:
    """Whether code points and UTF-16 units put this key in the same place."""
    if not isinstance(key, str):
        raise NotCanonical(f"the key {key!r} is no string; write str() of it.")
    if key == SECRET_MARK:
        raise NotCanonical('this key is reserved; write Secret("name") for a secret.')
    return _plain_text(key) and (key.isascii() or max(key) <= "\ud7ff")


def _not_json(value: object) -> str:
    kind = type(value).__name__
    return f"{kind} is no JSON; {_ENCODE_FIRST.get(kind, 'write plain dicts, lists, strings and numbers')}."


def _mark(value: object) -> dict[str, str]:
    if isinstance(value, Secret):
        return {SECRET_MARK: value.name}
    raise TypeError(f"{type(value).__name__} passed the check but is no JSON")


_ENCODER = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_mark
)


def _marked(value: Any) -> Any:
    if isinstance(value, Secret):
        return _mark(value)
    if isinstance(value, dict):
        return {key: _marked(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_marked(item) for item in value]
    return value


def _refuse_constant(constant: str) -> Any:
    raise NotCanonical(f"{constant} is no JSON number.")
