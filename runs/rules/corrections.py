"""What a corrected input changes, told without secrets."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from runs.rules import canonical
from runs.rules.plan import Plan
from runs.rules.redaction import HIDDEN, NAMES, redact

LONGEST = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One field before and after, as canonical JSON, cut and redacted; the digests are of the whole."""

    field: str
    old: str
    new: str
    old_digest: str
    new_digest: str

    def told(self) -> dict[str, str]:
        return asdict(self)


def changes_between(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Every field whose value is another one, by name."""
    names = sorted({*old, *new})
    return [
        _change(name, old.get(name), new.get(name)) for name in names if _differ(name, old, new)
    ]


def _differ(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    return canonical.dumps(old.get(name)) != canonical.dumps(new.get(name))


def _change(name: str, old: Any, new: Any) -> Change:
    before, after = canonical.dumps(old), canonical.dumps(new)
    return Change(
        field=name,
        old=shown(name, before),
        new=shown(name, after),
        old_digest=canonical.digest(before),
        new_digest=canonical.digest(after),
    )


def shown(name: str, text: str) -> str:
    """A value as the record keeps it: nothing of a secret, and of a long one its beginning."""
    if NAMES.search(name):
        return HIDDEN
    safe = redact(text, secrets={})
    return safe if len(safe) <= LONGEST else f"{safe[:LONGEST]}… ({len(text):,} characters)"


def read_before(plan: Plan, *, fields: Sequence[str], ordinal: int) -> list[str]:
    """Steps before this one that have read any of the fields, and are kept as they are."""
    return [
        step.key for step in plan.steps if step.ordinal < ordinal and set(step.reads) & set(fields)
    ]
