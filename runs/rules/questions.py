"""What an author asks with `run.ask`: any number of options, and a form of declared fields."""

from collections.abc import Mapping, Sequence
from typing import Any

from runs.definition.approvals import agreement
from runs.rules.asks import Ask, ask, of_whom, option

FIELD_TYPES = ("str", "text", "int", "float", "number", "bool", "date")
FIELD_PARTS = frozenset({"type", "label", "required", "help", "choices"})


class BadQuestion(ValueError):
    """Nobody could answer this question as it was written; the message says what to mend."""


def question(
    *,
    text: str,
    options: Sequence[str] | Mapping[str, str],
    fields: Mapping[str, Any] | None,
    evidence: Any,
    groups: Sequence[str],
    redact: Sequence[str] = (),
    quorum: int = 1,
    all_of: Sequence[str] = (),
) -> Ask:
    """`options` are keys; as a mapping, each with what the step will do then, in the author's words.

    `quorum` people have to answer the same, and somebody of each group of `all_of` among them.
    """
    told = dict(options) if isinstance(options, Mapping) else dict.fromkeys(options, "")
    _require_options(options, told)
    _require_fields(fields or {})
    who = _who(quorum, all_of)
    return of_whom(who) | ask(
        "question",
        text,
        [
            option(key, key.replace("_", " ").capitalize(), _consequence(key, said), fields=fields)
            for key, said in told.items()
        ],
        evidence=evidence,
        groups=groups,
        redact=redact,
    )


def _who(quorum: int, all_of: Sequence[str]) -> dict[str, Any]:
    groups = agreement("run.ask", quorum=quorum, all_of=all_of)
    if 1 != quorum < len(groups):
        raise BadQuestion(
            f"run.ask: quorum={quorum} is less than the {len(groups)} groups of all_of, and nobody is "
            f"counted for two. Leave quorum out, or raise it to {len(groups)}."
        )
    return {
        **({"quorum": quorum} if quorum != 1 else {}),
        **({"all_of": sorted(groups)} if groups else {}),
    }


def _consequence(key: str, said: str) -> str:
    goes_on = f"The step goes on with the answer “{key}”."
    return f"{said.strip()} {goes_on}" if said.strip() else goes_on


def _require_options(given: Sequence[str] | Mapping[str, str], told: Mapping[str, str]) -> None:
    if isinstance(given, str) or not told:
        raise BadQuestion('A question needs options: options=("yes", "no").')
    if len(told) != len(given):
        raise BadQuestion(f"A question names an option twice: {', '.join(map(str, given))}.")
    for key, said in told.items():
        if not isinstance(key, str) or not key.strip() or not isinstance(said, str):
            raise BadQuestion(f"{key!r} is no option; write a word, such as “pay_back”.")


def _require_fields(fields: Mapping[str, Any]) -> None:
    for name, said in fields.items():
        parts = said if isinstance(said, Mapping) else {"type": said}
        if unknown := sorted(set(parts) - FIELD_PARTS):
            known = ", ".join(sorted(FIELD_PARTS))
            raise BadQuestion(f"Field {name!r} says {unknown[0]!r}; a field says {known}.")
        if parts.get("type", "str") not in FIELD_TYPES:
            raise BadQuestion(
                f"Field {name!r} has the type {parts['type']!r}; it is one of {', '.join(FIELD_TYPES)}."
            )
        if isinstance(parts.get("choices", []), str):
            raise BadQuestion(f"Field {name!r}: write its choices as a list.")
