"""One text for one value: canonical JSON by RFC 8785, and the digest of that text."""

import hashlib
import json
import math
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

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        super().__init__(f"{path}: {why}")


def dumps(value: Any) -> str:
    """The one text of this value: equal for equal values on every Python, time zone and dict order."""
    if _check(value, path="$", depth=0):
        return json.dumps(
            value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_mark
        )
    return rfc8785.dumps(_marked(value)).decode()


def digest(text: str) -> str:
    """SHA-256 of a text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def loads(text: str) -> Any:
    """The value of a text that `dumps` wrote."""
    return json.loads(text, parse_constant=_refuse_constant)


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


def _check(value: Any, *, path: str, depth: int) -> bool:
    """Refuse what has no canonical text; whether the standard library writes the same as RFC 8785."""
    if depth > DEEPEST:
        raise NotCanonical(path, f"nested deeper than {DEEPEST} levels; store it as an artifact.")
    match value:
        case None | bool() | Secret():
            return True
        case str():
            _check_text(value, path=path)
            return True
        case int():
            return _check_whole(value, path=path)
        case float():
            return _check_number(value, path=path)
        case dict():
            return _check_members(value, path=path, depth=depth)
        case list() | tuple():
            plain = [
                _check(item, path=f"{path}[{at}]", depth=depth + 1) for at, item in enumerate(value)
            ]
            return all(plain)
    raise NotCanonical(path, _not_json(value))


def _check_text(value: str, *, path: str) -> None:
    if value.isascii():
        return
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise NotCanonical(
            path,
            f"the text holds a lone surrogate at position {error.start}; decode it again with errors='replace', "
            "or store the raw bytes as an artifact.",
        ) from None


def _check_whole(value: int, *, path: str) -> bool:
    if abs(value) > LARGEST:
        raise NotCanonical(path, f"the whole number {value} is beyond 2^53; write it as a string.")
    return True


def _check_number(value: float, *, path: str) -> bool:
    if not math.isfinite(value):
        raise NotCanonical(path, f"{value} is no JSON number; write null or a string.")
    return False


def _check_members(value: dict[Any, Any], *, path: str, depth: int) -> bool:
    plain = True
    for key, item in value.items():
        if not isinstance(key, str):
            raise NotCanonical(path, f"the key {key!r} is no string; write str() of it.")
        inside = f"{path}.{key}" if key.isidentifier() else f"{path}[{key!r}]"
        _check_text(key, path=inside)
        if key == SECRET_MARK:
            raise NotCanonical(inside, 'this key is reserved; write Secret("name") for a secret.')
        plain &= _check(item, path=inside, depth=depth + 1) and _sorts_alike(key)
    return plain


def _sorts_alike(key: str) -> bool:
    """Whether code points and UTF-16 units put this key in the same place."""
    return key.isascii() or max(key) <= "\ud7ff"


def _not_json(value: object) -> str:
    kind = type(value).__name__
    return f"{kind} is no JSON; {_ENCODE_FIRST.get(kind, 'write plain dicts, lists, strings and numbers')}."


def _mark(value: object) -> dict[str, str]:
    if isinstance(value, Secret):
        return {SECRET_MARK: value.name}
    raise TypeError(f"{type(value).__name__} passed the check but is no JSON")


def _marked(value: Any) -> Any:
    if isinstance(value, Secret):
        return _mark(value)
    if isinstance(value, dict):
        return {key: _marked(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_marked(item) for item in value]
    return value


def _refuse_constant(constant: str) -> Any:
    raise NotCanonical("$", f"{constant} is no JSON number.")
