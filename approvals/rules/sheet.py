"""A page as plain data: what is kept of it says the same when the code that drew it is gone."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from typing import Any
from uuid import UUID

FORMAT = 1
# What takes the permission to see payloads, on this page as on the one that was shown.
PAYLOADS = ("request", "evidence", "facts", "happened", "fields")


def plain(value: Any) -> Any:
    """JSON of whatever a page is made of; what JSON cannot say is said in words."""
    if value is None or isinstance(value, bool | str):
        return str(value) if isinstance(value, Enum) else value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Mapping):
        return {str(name): plain(said) for name, said in value.items()}
    return _made_of_parts(value)


def _made_of_parts(value: Any) -> Any:
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(one) for one in value), key=str)
    return str(value) if isinstance(value, UUID | Enum) else f"{value}"


def hidden(sheet: Mapping[str, Any]) -> dict[str, Any]:
    """The same for whoever may not see payloads."""
    return {name: said for name, said in sheet.items() if name not in PAYLOADS}
