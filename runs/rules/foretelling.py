"""What an answer will do, in words: which steps are kept or done again, what becomes of each call."""

from collections import Counter
from collections.abc import Iterator, Sequence

from runs.rules.plan import Plan
from runs.rules.preview import Choice, Fate, Past, preview, then_of
from runs.rules.words import of

MOST_NAMED = 12
SAID: Sequence[tuple[Fate, str]] = (
    ("kept", "Kept"),
    ("redone", "Done again"),
    ("asked", "Done again, and asks a person"),
    ("never reached", "Then, for the first time"),
)
KEPT = "kept with its step"


def foretold(plan: Plan, past: Past, choice: Choice) -> str:
    """The dry run of a choice as a few sentences; the pages of the choice show it call by call."""
    return " ".join([*_steps(plan, past, choice), *_calls(plan, past, choice)])


def _steps(plan: Plan, past: Past, choice: Choice) -> Iterator[str]:
    dry = preview(plan, past, choice)
    for fate, said in SAID:
        named = [step.key for step in dry.steps if step.fate == fate]
        if named:
            more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
            yield f"{said}: {', '.join(named[:MOST_NAMED])}{more}."


def _calls(plan: Plan, past: Past, choice: Choice) -> Iterator[str]:
    """Groups are counted, so this is as long for ten thousand calls as for two."""
    thens: Counter[str] = Counter()
    for group in past.groups:
        thens[then_of(plan, group, choice)] += group.amount
    keys = "New keys" if choice.posture == "restart" else "Same keys"
    yield f"{keys} for {'the' if choice.posture == 'restart' else 'the same'} calls."
    for then, amount in sorted(thens.items()):
        if then != KEPT:
            yield f"{of(amount, 'call')}: {then}."
    if not past.groups:
        yield "Nothing has been sent so far."
