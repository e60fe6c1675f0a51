"""The one boundary where secrets are taken out of what is shown, mailed, logged or audited."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runs.rules import canonical

SHAPES = re.compile(
    r"(?i)(bearer\s+[a-z0-9._~+/=-]{8,}"
    r"|(?:api[_-]?key|token|secret|password|passwd|authorization)[\"']?\s*[:=]\s*[\"']?[^\s\"',;]{6,}"
    # Within a longer word they are nothing: our own keys are made of all letters.
    r"|(?<![a-z0-9])(?:sk-[a-z0-9_-]{16,}|ghp_[a-z0-9]{20,}|(?-i:AKIA[0-9A-Z]{16}(?![A-Za-z0-9])))"
    r"|(?<=://)[^\s:/@]+:[^\s/@]+(?=@)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z))"
)
NAMES = re.compile(r"(?i)pass(word|wd|phrase)|secret|token|api_?key|credential|private_?key")
# What any of the shapes begins with or holds; looked for first, since most texts hold none.
SIGNS = ("bearer", "api", "token", "secret", "passw", "authorization", "sk-", "ghp_", "akia", "://",
         "private key")  # fmt: skip
# From so many characters on a known secret is taken out wherever it stands, or as a word.
SHORTEST, SHORTEST_WORD = 8, 4
HIDDEN = "[redacted]"
ANY = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A JSON value as people may see it; `hidden` are the places where something was taken out."""

    value: Any
    hidden: tuple[str, ...]


def redact(text: str, *, secrets: Mapping[str, str]) -> str:
    """Replace known secret values, and what looks like a secret."""
    return SHAPES.sub(HIDDEN, replace_known(text, secrets=secrets))


def replace_known(text: str, *, secrets: Mapping[str, str]) -> str:
    """Replace known secret values only, the longest first.

    One of less than 8 characters is looked for as a word of its own, for it may be a part of
    ordinary ones; one of less than 4 is not looked for at all, and `check` warns of it.
    """
    for name, value in sorted(secrets.items(), key=lambda one: -len(one[1])):
        if len(value) >= SHORTEST:
            text = text.replace(value, f"[secret {name}]")
        elif len(value) >= SHORTEST_WORD and value in text:
            text = _as_a_word(value).sub(f"[secret {name}]", text)
    return text


def _as_a_word(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")


def shown(value: Any, *, paths: Sequence[str] = ()) -> Shown:
    """Take out what stands at these paths, under a secret's name, or in the shape of a secret.

    A path names keys and places, joined by dots; `*` stands for any of them: `items.*.iban`.
    """
    hidden: list[str] = []
    wanted = [tuple(path.split(".")) for path in paths]
    found = _without(value, wanted, at=(), hidden=hidden)
    return Shown(value=found, hidden=tuple(hidden))


def under(paths: Sequence[str], *places: str) -> tuple[str, ...]:
    """The same paths below each of these places, and at the top."""
    return (*paths, *(f"{place}.{path}" for place in places for path in paths))


def shown_text(text: str) -> str:
    """JSON text without what has the shape of a secret; most has none, and stays as it is."""
    small = text.lower()
    if not any(sign in small for sign in SIGNS) or SHAPES.search(text) is None:
        return text
    return canonical.dumps(_without_shapes(canonical.loads(text)))


def _without(
    value: Any, wanted: list[tuple[str, ...]], *, at: tuple[str, ...], hidden: list[str]
) -> Any:
    if any(not rest for rest in wanted):
        hidden.append(".".join(at) or "all of it")
        return HIDDEN
    if isinstance(value, str):
        return _of_a_text(value, at=at, hidden=hidden)
    if isinstance(value, dict):
        return {
            name: _without(item, _below(wanted, name), at=(*at, name), hidden=hidden)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [
            _without(item, _below(wanted, str(place)), at=(*at, str(place)), hidden=hidden)
            for place, item in enumerate(value)
        ]
    return value


def _below(wanted: list[tuple[str, ...]], name: str) -> list[tuple[str, ...]]:
    return [path[1:] for path in wanted if path and path[0] in (ANY, name)]


def _of_a_text(text: str, *, at: tuple[str, ...], hidden: list[str]) -> str:
    named = [part for part in at if not part.isdigit()]
    secret = text and named and NAMES.search(named[-1])
    safe = HIDDEN if secret else SHAPES.sub(HIDDEN, text)
    if safe != text:
        hidden.append(".".join(at) or "a part of it")
    return safe


def _without_shapes(value: Any) -> Any:
    if isinstance(value, str):
        return SHAPES.sub(HIDDEN, value)
    if isinstance(value, dict):
        return {name: _without_shapes(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_shapes(item) for item in value]
    return value
