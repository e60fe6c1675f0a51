"""What a label of a run may be called, and how many a run may have."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
LONGEST_VALUE = 100
MOST = 20
# What names whose run it is: only the firing that began it says so.
OF_THE_ENGINE = ("schedule",)


class LabelRefused(ValueError):
    """This cannot be a label; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A name with its value; an empty value takes the label away."""

    name: str
    value: str


def label_from(name: str, value: str) -> Label:
    """What was typed, as a label. Raises LabelRefused."""
    name, value = name.strip().lower(), value.strip()
    if not NAME.fullmatch(name):
        raise LabelRefused(
            "A label is named by up to 40 letters, digits, dots, dashes or underscores, such as "
            "“team”."
        )
    if name in OF_THE_ENGINE:
        raise LabelRefused(f"“{name}” says by what a run was begun, and is not set by hand.")
    if len(value) > LONGEST_VALUE:
        raise LabelRefused(f"A label's value has at most {LONGEST_VALUE} characters.")
    return Label(name=name, value=value)


def with_label(labels: Mapping[str, str], wish: Label) -> dict[str, str]:
    """A run's labels with this one among them. Raises LabelRefused."""
    others = {name: value for name, value in labels.items() if name != wish.name}
    if not wish.value:
        return others
    if len(others) >= MOST:
        raise LabelRefused(f"It has {MOST} labels already: take one away first.")
    return {**others, wish.name: wish.value}
