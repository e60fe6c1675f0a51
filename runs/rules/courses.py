"""What the present code does about a run: nothing, take it along, ask a person, or say why it stands."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from runs.definition.migrating import Migration, Position
from runs.rules import carrying
from runs.rules.carrying import CannotCarry, Carry
from runs.rules.past import Past
from runs.rules.plan import Plan
from runs.rules.states import FINAL
from runs.rules.versions import Code, Hop

Try = Callable[[Migration, dict[str, Any], Position], object]


class Course(StrEnum):
    """What happens to a run under the present code."""

    STAYS = "stays"
    GOES_ON = "goes on"
    MIGRATES = "migrates"
    ASKS = "asks"
    STANDS = "stands"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a person has answered about a run and a plan; it holds for that plan only."""

    option: str
    plan_hash: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`reason` is one of a few words for programs, `sentence` says it to people.

    `carry` is how the run is taken along; `redo` how a person may have it done again from its
    safe checkpoint, where that is possible.
    """

    course: Course
    reason: str
    sentence: str
    to: Plan | None = None
    carry: Carry | None = None
    redo: Carry | None = None
    by: str = ""

    @property
    def strands(self) -> bool:
        """Whether a person is needed: it asks, it stands, or what was approved is asked anew."""
        return self.course in (Course.ASKS, Course.STANDS) or self.reason == "approval void"


def call(migration: Migration, facts: dict[str, Any], at: Position) -> object:
    """A migration is an ordinary function."""
    return migration(facts, at)


def course_of(
    past: Past, code: Code, *, choice: Choice | None = None, attempt: Try = call
) -> Verdict:
    """What this code does about this run when nobody else knows its plan."""
    if past.schema > code.schema:
        return _stands("newer checkpoint", newer_schema(past.schema, code.schema))
    if past.state in FINAL or past.plan.hash in code.hashes:
        return Verdict(course=Course.STAYS, reason="same plan", sentence="Its plan is here.")
    new = code.latest(past.workflow)
    if new is None:
        return _stands("unknown workflow", f"No workflow {past.workflow} is in this code.")
    if new.version == past.version:
        return standing_for_another_plan(past.version)
    held = choice if choice is not None and choice.plan_hash == new.hash else None
    if held is not None and held.option == "wait":
        return _stands("waits for its version", _waits(past, held.by))
    if held is not None and held.option == "redo":
        return _redone(past, new, held)
    return _taken(past, new, code, held, attempt)


def newer_schema(schema: int, readable: int) -> str:
    """The sentence about a run whose last checkpoint was written by a later release."""
    return (
        f"Its last checkpoint was written by a newer release (schema {schema}); this one reads "
        f"schema {readable}. Run it with the newer release."
    )


def standing_for_another_plan(version: int) -> Verdict:
    """A version's plan was changed after runs of it had begun."""
    return _stands(
        "another plan",
        f"Version {version} has another plan in this code than the runs that were begun under it. "
        f"Give the changed plan version {version + 1}.",
    )


def _stands(reason: str, sentence: str) -> Verdict:
    return Verdict(course=Course.STANDS, reason=reason, sentence=sentence)


def _waits(past: Past, by: str) -> str:
    return f"{by} chose to wait for code with version {past.version}."


def _redone(past: Past, new: Plan, held: Choice) -> Verdict:
    try:
        carry = carrying.redo(past, new)
    except CannotCarry as why:
        return _asks(past, new, "changed", str(why))
    return Verdict(
        course=Course.GOES_ON,
        reason="chosen",
        sentence=f"{held.by} chose to go on from the safe checkpoint under version {new.version}.",
        to=new,
        carry=carry,
        by=held.by,
    )


def _taken(past: Past, new: Plan, code: Code, held: Choice | None, attempt: Try) -> Verdict:
    if new.version < past.version:
        return _asks(
            past,
            new,
            "older release",
            f"This code has version {new.version} of it and not version {past.version}.",
        )
    hops = code.path(past.workflow, past.version, new.version)
    if not hops:
        return _unmigrated(past, new)
    if any(hop.migrate is None for hop in hops):
        return Verdict(
            course=Course.MIGRATES,
            reason="migrates",
            sentence="A migration is declared; only the release that has it can try it.",
            to=new,
        )
    return _migrated(past, new, hops, held, attempt)


def _unmigrated(past: Past, new: Plan) -> Verdict:
    try:
        carry = carrying.go_on(past, new)
    except CannotCarry as why:
        return _asks(past, new, "changed", str(why))
    sentence = f"All it has finished is the same in version {new.version}."
    return _carried(new, carry, Course.GOES_ON, "unchanged so far", sentence)


def _migrated(past: Past, new: Plan, hops: Any, held: Choice | None, attempt: Try) -> Verdict:
    try:
        carry = carrying.migrate(past, new, _through(past, hops, attempt))
    except CannotCarry as why:
        return _asks(past, new, "migration failed", str(why))
    if carry.dropped and (held is None or held.option != "migrate"):
        return _asks(
            past,
            new,
            "drops calls",
            f"Version {new.version} has no step for {len(carry.dropped)} of its calls.",
        )
    sentence = f"It is migrated to version {new.version}."
    by = held.by if held else ""
    return _carried(new, carry, Course.MIGRATES, "migrates", sentence, by=by)


def _through(past: Past, hops: list[Hop], attempt: Try) -> object:
    """The run through each migration; what one of them raises is its author's error, in words."""
    facts, at, made = past.facts, carrying.position_of(past), None
    for hop in hops:
        name = f"The migration from version {hop.source} to {hop.target}"
        assert hop.migrate is not None  # noqa: S101 - looked at before
        try:
            made = attempt(hop.migrate, facts, at)
            facts, at = dict(made.facts), made.at  # type: ignore[attr-defined]
        except Exception as error:
            raise CannotCarry(f"{name} failed: {type(error).__name__}: {error}") from error
    return made


def _carried(
    new: Plan, carry: Carry, course: Course, reason: str, sentence: str, *, by: str = ""
) -> Verdict:
    """What was approved of something else is said instead, by nobody."""
    if carry.voided:
        reason, by = "approval void", ""
        sentence = (
            f"What was approved of {', '.join(carry.voided)} promises something else in version "
            f"{new.version}; it is asked again."
        )
    return Verdict(course=course, reason=reason, sentence=sentence, to=new, carry=carry, by=by)


def _asks(past: Past, new: Plan, reason: str, sentence: str) -> Verdict:
    try:
        redo = carrying.redo(past, new)
    except CannotCarry:
        redo = None
    return Verdict(course=Course.ASKS, reason=reason, sentence=sentence, to=new, redo=redo)
