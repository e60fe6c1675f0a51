"""What a certificate is: ten questions, each with an answer and its evidence, about one plan on one day."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self

from runs.rules import canonical
from runs.rules.drill_report import DrillReport
from runs.rules.plan import Plan
from runs.rules.violations import Violation


class Answer(StrEnum):
    """`unknown` is not green: nobody has looked, or nobody can."""

    PASS = "pass"  # noqa: S105
    FAIL = "fail"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One finding; `about` leads to what it was found in: "step:KEY", "drill:ID" or "run:ID"."""

    answer: Answer
    text: str
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The answer is that of its weakest evidence."""

    id: str
    question: str
    evidence: tuple[Evidence, ...]

    @property
    def answer(self) -> Answer:
        found = {each.answer for each in self.evidence}
        if Answer.FAIL in found:
            return Answer.FAIL
        return Answer.UNKNOWN if Answer.UNKNOWN in found or not found else Answer.PASS


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """An irreversible call that no person is asked about, and why (I7)."""

    step: str
    effects: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled:
    """A schedule of the workflow: what it says of overlap, and what came of its times so far."""

    slug: str
    overlap: str
    fired: int
    started: int
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What the database says of a plan: its stored hash, and what its last runs look like to `verify`."""

    stored_hash: str | None
    verified: int
    violations: tuple[Violation, ...]
    stranded: int
    schedules: tuple[Scheduled, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """All that the answers are made from."""

    plan: Plan
    drill: DrillReport | None
    drill_id: str
    recorded: Recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What was known of a plan on one day."""

    name: str
    version: int
    plan_hash: str
    made_at: str
    questions: tuple[Question, ...]
    waivers: tuple[Waiver, ...]
    code: Mapping[str, str]

    @property
    def passed(self) -> int:
        return sum(question.answer is Answer.PASS for question in self.questions)

    @property
    def green(self) -> bool:
        return self.passed == len(self.questions)

    def to_text(self) -> str:
        return canonical.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Self:
        told = canonical.loads(text)
        questions = tuple(_question_from(each) for each in told["questions"])
        waivers = tuple(
            Waiver(**{**each, "effects": tuple(each["effects"])}) for each in told["waivers"]
        )
        return cls(**{**told, "questions": questions, "waivers": waivers})


def _question_from(told: Mapping[str, Any]) -> Question:
    evidence = tuple(
        Evidence(**{**each, "answer": Answer(each["answer"])}) for each in told["evidence"]
    )
    return Question(id=told["id"], question=told["question"], evidence=evidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """What a small picture of a certificate says: a word, in the colour of its answer."""

    word: str
    answer: Answer

    @property
    def colour(self) -> str:
        return {"pass": "#347c5a", "fail": "#bd3744", "unknown": "#545a63"}[self.answer]


def badge_of(certificate: Certificate | None, *, valid: bool) -> Badge:
    """Green for nothing but ten answers of yes about the plan as it is now."""
    if certificate is None:
        return Badge(word="not made", answer=Answer.UNKNOWN)
    if not valid:
        return Badge(word="expired", answer=Answer.UNKNOWN)
    answers = {question.answer for question in certificate.questions}
    worst = Answer.FAIL if Answer.FAIL in answers else Answer.UNKNOWN
    word = f"{certificate.passed} of {len(certificate.questions)}"
    return Badge(word=word, answer=Answer.PASS if certificate.green else worst)
