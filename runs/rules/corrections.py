"""What a corrected input changes, told without secrets."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from runs.rules import canonical, inputs
from runs.rules.inputs import Field
from runs.rules.plan import Plan
from runs.rules.redaction import HIDDEN, NAMES, redact

LONGEST = 500
# Behind the name of a field of text: that it is to hold no character, which an empty field is not.
EMPTY = ".empty"


class TwoValues(ValueError):
    """A field is filled in, and is to be empty as well; only one of them can be meant."""

    def __init__(self, field: str) -> None:
        super().__init__("is filled in, and is to be empty as well; only one can be meant")
        self.field = field


def may_be_empty(field: Field) -> bool:
    """Whether the empty text is a value of this field, so that somebody may want it."""
    return field.type == "text" and not field.choices


def needs_a_word(field: Field) -> bool:
    """Whether a cleared field would be the empty text, which nobody gets unasked."""
    return may_be_empty(field) and field.required


def if_cleared(field: Field) -> str:
    """What becomes of the field where its text is only cleared."""
    if field.nullable:
        return "Only cleared, it is nothing at all (null)."
    if field.required:
        return "It then holds no character."
    return f"Only cleared, it is its default again: “{field.default}”."


def filled_in(declared: Sequence[Field], given: Mapping[str, Any]) -> dict[str, Any]:
    """What an answer says of the input: what is left empty stays, unless it is to be the empty text.

    Raises TwoValues.
    """
    found: dict[str, Any] = {}
    for field in declared:
        text = given.get(field.name)
        is_filled = text not in (None, "")
        if given.get(field.name + EMPTY):
            if is_filled:
                raise TwoValues(field.name)
            found[field.name] = ""
        elif is_filled:
            found[field.name] = inputs.parsed(field, str(text))
    return found


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
