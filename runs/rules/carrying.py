"""How the rows of a run become those of another plan: kept, carried along, or done again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from runs.definition.context import Cursor
from runs.definition.migrating import BEGINNING, Migrated, Position
from runs.rules.inputs import Field
from runs.rules.past import Past
from runs.rules.plan import Plan, PlanStep
from runs.rules.versions import unchanged_prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """A step that is over under the new plan: finished, with its facts, or skipped by a person."""

    step: PlanStep
    facts: dict[str, Any]
    skipped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Carry:
    """How a run's rows become those of another plan.

    The first `kept` steps stay as they are, `carried` are written anew as finished, and the run
    goes on at `at`; with `same_step`, what it has begun there goes with it. `voided` are plans whose
    approval no longer holds. `dropped` are keys of calls whose step the new plan does not have.
    """

    plan: Plan
    input: dict[str, Any]
    kept: int
    carried: Sequence[Carried]
    at: PlanStep
    cursor: Cursor
    same_step: bool
    same_effects: bool
    in_place: bool
    voided: Sequence[str] = ()
    dropped: Sequence[str] = ()


class CannotCarry(ValueError):
    """The run does not fit the new plan; the message says why, as a sentence."""


def go_on(past: Past, new: Plan) -> Carry:
    """The run on the new plan without a migration: everything finished is unchanged in it."""
    prefix, finished = unchanged_prefix(past.plan, new), len(past.done)
    if finished > prefix:
        changed = past.done[prefix]
        raise CannotCarry(f"Step {changed.key} is finished, and version {new.version} changes it.")
    if finished >= len(new.steps):
        raise CannotCarry(f"Version {new.version} has no step behind {past.done[-1].key}.")
    at = new.steps[finished]
    same = past.plan.step(past.here.key).fingerprint == at.fingerprint
    if not same and past.here.left:
        raise CannotCarry(
            f"Step {past.here.key} has begun ({past.here.left}), and version {new.version} changes it."
        )
    facts = past.facts
    return _carry(past, new, facts, at, past.here.cursor if same else None, same_step=same)


def redo(past: Past, new: Plan) -> Carry:
    """The run on the new plan from its safe checkpoint on: what is changed is done again."""
    kept = min(unchanged_prefix(past.plan, new), len(past.done), len(new.steps) - 1)
    facts = dict(past.input)
    for step in past.done[:kept]:
        facts |= step.facts
    redone = {name for step in past.done[kept:] for name in step.facts}
    open_lists = [plan for plan in past.plans if plan.name not in redone]
    return _carry(
        replace(past, plans=open_lists), new, facts, new.steps[kept], None, same_step=False
    )


def migrate(past: Past, new: Plan, made: object) -> Carry:
    """The run as its author's migration made it; refused where it does not fit the new plan."""
    if not isinstance(made, Migrated) or not isinstance(made.at, Position):
        raise CannotCarry(
            f"The migration returned {type(made).__name__}, not Migrated(facts=, at=)."
        )
    at = next((step for step in new.steps if step.key == made.at.step), None)
    if at is None:
        raise CannotCarry(
            f"The migration goes on at {made.at.step!r}, which version {new.version} does not have."
        )
    _require_declared(past, new, made.facts, at)
    same = at.scope == past.here.scope and made.at.cursor.ordinal >= past.here.cursor.ordinal
    cursor = made.at.cursor if made.at.cursor.ordinal else None
    return _carry(past, new, made.facts, at, cursor, same_step=same)


def position_of(past: Past) -> Position:
    """Where the run stands, in its author's words."""
    return Position(step=past.here.key, cursor=past.here.cursor)


def _require_declared(past: Past, new: Plan, facts: Mapping[str, Any], at: PlanStep) -> None:
    before, later = new.steps[: at.ordinal - 1], new.steps[at.ordinal - 1 :]
    given, skipped = {field.name for field in new.input_fields}, _skipped(past)
    written = {name for step in before if step.scope not in skipped for name in step.writes}
    for name in facts:
        if name not in given | written:
            raise CannotCarry(
                f"The migration gives the fact {name!r}, which no step of version {new.version} "
                f"before {at.key} writes."
            )
    if missing := sorted(written - set(facts)):
        raise CannotCarry(
            f"The migration gives no {missing[0]!r}, which a step before {at.key} writes in "
            f"version {new.version}."
        )
    coming = given | written
    for step in later:
        if unknown := [name for name in step.reads if name not in coming]:
            raise CannotCarry(
                f"Step {step.key} would read {unknown[0]!r}, which nobody has written."
            )
        coming |= set(step.writes)


def _carry(
    past: Past,
    new: Plan,
    facts: Mapping[str, Any],
    at: PlanStep,
    cursor: Cursor | None,
    *,
    same_step: bool,
) -> Carry:
    rows = [_carried(past, new, step, facts) for step in new.steps[: at.ordinal - 1]]
    _require_named_again(past, new, at)
    stale = _changed_plans(past, new)
    kept = _kept(past, rows, stale)
    renamed = (past.here.key, past.here.ordinal) != (at.key, at.ordinal)
    declared = past.plan.step(past.here.key).fingerprint == at.fingerprint
    return Carry(
        plan=new,
        input=_input(past, new, facts),
        kept=kept,
        carried=rows[kept:],
        at=at,
        cursor=cursor or BEGINNING,
        same_step=same_step,
        same_effects=_effects(past.plan.step(past.here.key)) == _effects(at),
        in_place=same_step
        and declared
        and not (renamed or stale)
        and (cursor or BEGINNING) == past.here.cursor
        and kept == len(rows) == len(past.done),
        voided=[plan.name for plan in past.plans if plan.approved and plan.name in stale],
        dropped=_dropped(past, new),
    )


def _carried(past: Past, new: Plan, step: PlanStep, facts: Mapping[str, Any]) -> Carried:
    if step.scope not in _skipped(past):
        return Carried(step=step, facts={name: facts[name] for name in step.writes})
    if not step.may_skip:
        raise CannotCarry(
            f"Step {step.key} was skipped, and in version {new.version} it may not be."
        )
    return Carried(step=step, facts={}, skipped=True)


def _skipped(past: Past) -> set[str]:
    return {done.scope for done in past.done if done.skipped}


def _require_named_again(past: Past, new: Plan, at: PlanStep) -> None:
    """What became of a call is settled by the step that named it, or by nobody (I6)."""
    coming = {step.scope for step in new.steps[at.ordinal - 1 :]}
    for scope, keys in past.unsettled.items():
        if scope not in coming:
            raise CannotCarry(
                f"Nobody knows what became of the call {keys[0]}, and no step that is still to come "
                f"in version {new.version} names it again."
            )


def _kept(past: Past, rows: Sequence[Carried], stale: Sequence[str]) -> int:
    """Rows that need not be touched: same name, same declaration, same facts, no list sealed anew."""
    kept = 0
    for done, row in zip(past.done, rows, strict=False):
        old = past.plan.step(done.key)
        same = (done.key, old.fingerprint) == (row.step.key, row.step.fingerprint)
        if not same or dict(done.facts) != row.facts or set(stale) & set(row.step.writes):
            break
        kept += 1
    return kept


def _changed_plans(past: Past, new: Plan) -> tuple[str, ...]:
    """Lists that wait to be applied and whose effects promise something else now (R4)."""
    then, now = past.plan.fingerprints, new.fingerprints
    changed = []
    for plan in past.plans:
        gone = sorted(name for name in plan.effects if name not in now)
        if gone and plan.is_list:
            raise CannotCarry(
                f"The list {plan.name!r} holds calls of {gone[0]}, which version {new.version} "
                "does not declare."
            )
        if any(then.get(name) != now.get(name) for name in plan.effects):
            changed.append(plan.name)
    return tuple(changed)


def _effects(step: PlanStep) -> set[str]:
    return {effect.fingerprint for effect in step.effects}


def _dropped(past: Past, new: Plan) -> tuple[str, ...]:
    scopes = {step.scope for step in new.steps}
    return tuple(key for scope, keys in past.calls.items() if scope not in scopes for key in keys)


def _input(past: Past, new: Plan, facts: Mapping[str, Any]) -> dict[str, Any]:
    then = {field.name: field for field in past.plan.input_fields}
    return {
        field.name: _field(field, then.get(field.name), facts, new) for field in new.input_fields
    }


def _field(field: Field, before: Field | None, facts: Mapping[str, Any], new: Plan) -> Any:
    if field.name not in facts:
        if field.required:
            raise CannotCarry(
                f"Version {new.version} needs the input {field.name!r}, which this run was not given."
            )
        return field.default
    typed = (field.type, field.choices, field.nullable, field.items)
    if before and typed != (before.type, before.choices, before.nullable, before.items):
        raise CannotCarry(f"Version {new.version} reads the input {field.name!r} as another type.")
    return facts[field.name]
