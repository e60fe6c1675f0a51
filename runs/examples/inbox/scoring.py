"""The transparent judge: adds up the points of the reasons that hold; from ten on it is spam."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Final

from runs.examples.inbox.incoming import digest_of
from runs.examples.inbox.reasons import REASONS

SPAM_AT: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The sum, the answer, and the reasons that made it."""

    points: int
    spam: bool
    reasons: tuple[dict[str, str | int], ...]


def score(text: str) -> Score:
    held = [reason for reason in REASONS if reason.holds(text)]
    points = sum(reason.points for reason in held)
    return Score(
        points=points,
        spam=points >= SPAM_AT,
        reasons=tuple({"rule": r.name, "points": r.points, "says": r.says} for r in held),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """Judges by the reasons alone and sees subject and text, never a label."""

    name: ClassVar[str] = "scoring"

    @property
    def parameters(self) -> dict[str, Any]:
        return {"spam_at": SPAM_AT, "reasons": _digest_of_reasons()}

    def input_of(self, subject: Any, /) -> dict[str, str]:
        return {"subject": subject.subject, "text": subject.text}

    def judge(self, question: str, seen: Mapping[str, str], /) -> dict[str, Any]:
        found = score(f"{seen['subject']}\n{seen['text']}".strip())
        return {"spam": found.spam, "score": found.points, "reasons": list(found.reasons)}


@cache
def _digest_of_reasons() -> str:
    return digest_of(*(f"{r.name} {r.points} {r.says} {r.pattern}" for r in REASONS))
