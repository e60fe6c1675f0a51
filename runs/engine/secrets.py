"""Resolve named secrets at the moment of sending, and keep them out of what is stored."""

import os
import traceback
from pathlib import Path
from typing import Any

from django.conf import settings

from runs.definition.effects import NotSent
from runs.rules.redaction import SHORTEST_WORD, redact, replace_known

PREFIX = "MILEPOST_SECRET_"
_resolved: dict[str, str] = {}


def values_of(names: frozenset[str]) -> dict[str, str]:
    """The secrets of these names, from the environment or from files in `VAR_DIR/secrets`.

    Raises NotSent when one is missing: nothing may leave with a hole in it.
    """
    return {name: _value(name) for name in names}


def _value(name: str) -> str:
    file = Path(settings.VAR_DIR) / "secrets" / name
    value = os.environ.get(PREFIX + name.upper())
    if value is None and file.is_file():
        value = file.read_text().strip()
    if value is None:
        raise NotSent(
            f"The secret “{name}” is not known here: set {PREFIX}{name.upper()} or write {file}."
        )
    _resolved[name] = value
    return value


def too_short() -> list[str]:
    """The names of secrets that are known here and too short to be taken out of a text."""
    named = (name for name in os.environ if name.startswith(PREFIX))
    values = {name.removeprefix(PREFIX).lower(): os.environ[name] for name in named}
    folder = Path(settings.VAR_DIR) / "secrets"
    for file in folder.iterdir() if folder.is_dir() else ():
        if file.is_file() and file.name.lower() not in values:
            values[file.name] = file.read_text(errors="replace").strip()
    return sorted(name for name, value in values.items() if len(value) < SHORTEST_WORD)


def safe(text: str) -> str:
    """A text without any secret this process has resolved, and without what cannot be stored.

    PostgreSQL takes no NUL, UTF-8 no half of a surrogate pair; both stand in raw mail.
    """
    plain = text.encode(errors="backslashreplace").decode().replace("\0", "\\x00")
    return redact(plain, secrets=_resolved)


def without(value: Any) -> Any:
    """A JSON value with every secret this process has resolved taken out of its texts."""
    if isinstance(value, str):
        return replace_known(value, secrets=_resolved)
    if isinstance(value, dict):
        return {key: without(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without(item) for item in value]
    return value


def describe(error: BaseException) -> str:
    """What went wrong and where, without secrets and without values of variables."""
    where = traceback.extract_tb(error.__traceback__)
    # The end of the path is enough to find the line; the rest tells of the machine.
    place = (
        f" ({'/'.join(Path(where[-1].filename).parts[-3:])}:{where[-1].lineno})" if where else ""
    )
    return safe(f"{type(error).__name__}: {error}{place}")[:4000]
