"""Take secrets out of text before it is stored or shown."""

import re
from collections.abc import Mapping

SHAPES = re.compile(
    r"(?i)(bearer\s+[a-z0-9._~+/=-]{8,}"
    r"|(?:api[_-]?key|token|secret|password|passwd|authorization)[\"']?\s*[:=]\s*[\"']?[^\s\"',;]{6,}"
    r"|sk-[a-z0-9_-]{16,}|ghp_[a-z0-9]{20,}|AKIA[0-9A-Z]{16}"
    r"|(?<=://)[^\s:/@]+:[^\s/@]+(?=@))"
)
SHORTEST = 8


def redact(text: str, *, secrets: Mapping[str, str]) -> str:
    """Replace known secret values of 8 characters or more, and what looks like a secret."""
    return SHAPES.sub("[redacted]", replace_known(text, secrets=secrets))


def replace_known(text: str, *, secrets: Mapping[str, str]) -> str:
    """Replace known secret values only; a shorter one would blank out ordinary text."""
    for name, value in secrets.items():
        if len(value) >= SHORTEST:
            text = text.replace(value, f"[secret {name}]")
    return text
