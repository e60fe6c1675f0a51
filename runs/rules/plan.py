"""A workflow's plan as data: its ordered steps, one fingerprint each, and one hash over all."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from runs.definition.effects import Contract, Effect
from runs.definition.places import Place
from runs.definition.step import Approval, Retry, StepDeclaration, Waived
from runs.definition.workflow import Workflow
from runs.rules import canonical, declarations, inputs

FORMAT = 1


class BrokenWorkflow(ValueError):
    """A workflow whose declarations contradict each other has no plan; the text lists what to mend."""

    def __init__(self, workflow: type[Workflow], problems: list[declarations.Problem]) -> None:
        self.problems = problems
        listed = "\n".join(f"  {problem.file}:{problem.line}: {problem.message} {problem.hint}" for problem in problems)
        super().__init__(f"Workflow {workflow.name!r} version {workflow.version} cannot run:\n{listed}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEffect:
    """What a step's plan says of one effect."""

    name: str
    contract: str | None
    window: float | None
    has_contract: bool
    has_probe: bool
    settles: float | None
    timeout: float
    reversible: str | None
    compensated: bool
    irreversible: bool
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanApproval:
    """Whom the step asks first (`of`, `groups`), or why nobody (`waived`)."""

    of: str | None = None
    groups: tuple[str, ...] = ()
    expires: float | None = None
    on_expiry: str = "stay"
    waived: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRetry:
    """How often, and how far apart, in seconds."""

    attempts: int
    base: float
    factor: float
    maximum: float
    jitter: float
    give_up_on: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """One step of a plan; `file`, `line`, `doc` and `code_digest` are shown but not part of any hash."""

    key: str
    scope: str
    ordinal: int
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    effects: tuple[PlanEffect, ...]
    approval: PlanApproval | None
    retry: PlanRetry
    timeout: float | None
    transactional: bool
    on_exhausted: str
    side_effect: bool
    fingerprint: str
    code_digest: str
    doc: str
    file: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An ordered list of steps; readable from its text without the code that made it."""

    name: str
    version: int
    steps: tuple[PlanStep, ...]
    input_fields: tuple[inputs.Field, ...]
    deadline: float | None
    heartbeat: dict[str, float | None] | None
    hash: str
    doc: str

    @property
    def plan_hash(self) -> str:
        """The same as `hash`, under the name the tables use."""
        return self.hash

    def step(self, key: str) -> PlanStep:
        """The step of this key."""
        for step in self.steps:
            if step.key == key:
                return step
        raise KeyError(f"{self.name} {self.version} has no step {key!r}")

    def to_text(self) -> str:
        """The plan as canonical JSON."""
        return canonical.dumps({"format": FORMAT, **_plain(self)})

    @classmethod
    def from_text(cls, text: str) -> Plan:
        """The plan that `to_text` wrote."""
        data = canonical.loads(text)
        data.pop("format")
        return cls(
            **{
                **data,
                "steps": tuple(_step_from(step) for step in data["steps"]),
                "input_fields": tuple(
                    inputs.Field(**{**field, "choices": tuple(field["choices"])}) for field in data["input_fields"]
                ),
            }
        )


@functools.cache
def plan_of(cls: type[Workflow]) -> Plan:
    """The plan of a workflow class; refused while its declarations have errors."""
    broken = [problem for problem in declarations.problems(cls) if problem.level == "error"]
    if broken:
        raise BrokenWorkflow(cls, broken)
    steps = tuple(_step(cls, declared, ordinal) for ordinal, declared in enumerate(cls.steps, start=1))
    fields = inputs.fields_of(cls)
    return Plan(
        name=cls.name,
        version=cls.version,
        steps=steps,
        input_fields=fields,
        deadline=_seconds(cls.deadline),
        heartbeat=_heartbeat(cls),
        hash=_plan_hash(cls, steps, fields),
        doc=inspect.cleandoc(cls.__doc__ or ""),
    )


def plan_hash(cls: type[Workflow]) -> str:
    """The hash of a workflow class's plan."""
    return plan_of(cls).hash


def fingerprint(declared: StepDeclaration) -> str:
    """The digest of a step's declaration: not of its name, place, documentation or code."""
    return _digest(
        {
            "scope": declared.scope,
            "reads": sorted(declared.reads),
            "writes": sorted(declared.writes),
            "effects": sorted(effect_fingerprint(effect) for effect in declared.effects),
            "approval": _plain(_approval(declared.approval)),
            "retry": _plain(_retry(declared.retry)),
            "timeout": _seconds(declared.timeout),
            "transactional": declared.transactional,
            "on_exhausted": declared.on_exhausted,
        }
    )


def effect_fingerprint(effect: Effect) -> str:
    """The digest of what an effect promises; a decision on its calls is bound to it."""
    return _digest(_effect_facts(effect))


def code_digest(declared: StepDeclaration) -> str:
    """The digest of a step's source text, for people who ask whether the code changed; empty if unknown."""
    try:
        return canonical.digest(inspect.getsource(declared.body))
    except (OSError, TypeError):
        return ""


def _plan_hash(cls: type[Workflow], steps: tuple[PlanStep, ...], fields: tuple[inputs.Field, ...]) -> str:
    return _digest(
        {
            "format": FORMAT,
            "name": cls.name,
            "version": cls.version,
            "steps": [[step.key, step.fingerprint] for step in steps],
            "input": [{**_plain(field), "help": ""} for field in fields],
        }
    )


def _step(cls: type[Workflow], declared: StepDeclaration, ordinal: int) -> PlanStep:
    return PlanStep(
        key=declared.key,
        scope=declared.scope,
        ordinal=ordinal,
        reads=declared.reads,
        writes=declared.writes,
        effects=tuple(_effect(effect) for effect in declared.effects),
        approval=_approval(declared.approval),
        retry=_retry(declared.retry),
        timeout=_seconds(declared.timeout),
        transactional=declared.transactional,
        on_exhausted=declared.on_exhausted,
        side_effect=declared.side_effect,
        fingerprint=fingerprint(declared),
        code_digest=code_digest(declared),
        doc=declared.doc,
        file=_portable(declared.body.__module__, declared.place),
        line=declared.place.line,
    )


def _effect(effect: Effect) -> PlanEffect:
    return PlanEffect(**_effect_facts(effect), fingerprint=effect_fingerprint(effect))


def _effect_facts(effect: Effect) -> dict[str, Any]:
    contract: Contract | None = effect.contract
    probe = effect.look_up
    return {
        "name": effect.name,
        "contract": contract.promise if contract else None,
        "window": _seconds(contract.window) if contract else None,
        "has_contract": contract is not None,
        "has_probe": probe is not None,
        "settles": _seconds(probe.settles) if probe else None,
        "timeout": effect.timeout.total_seconds(),
        "reversible": effect.reversible,
        "compensated": effect.compensate is not None,
        "irreversible": effect.irreversible,
    }


def _approval(approval: Approval | Waived | None) -> PlanApproval | None:
    match approval:
        case Approval():
            return PlanApproval(
                of=approval.of,
                groups=tuple(sorted(approval.groups)),
                expires=_seconds(approval.expires),
                on_expiry=approval.on_expiry,
            )
        case Waived():
            return PlanApproval(waived=approval.reason)
    return None


def _retry(retry: Retry) -> PlanRetry:
    return PlanRetry(
        attempts=retry.attempts,
        base=retry.base.total_seconds(),
        factor=float(retry.factor),
        maximum=retry.maximum.total_seconds(),
        jitter=float(retry.jitter),
        give_up_on=tuple(sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in retry.give_up_on)),
    )


def _heartbeat(cls: type[Workflow]) -> dict[str, float | None] | None:
    if cls.heartbeat is None:
        return None
    return {
        "every": _seconds(cls.heartbeat.every),
        "grace": _seconds(cls.heartbeat.grace),
        "progress": _seconds(cls.heartbeat.progress),
    }


def _portable(module: str, place: Place) -> str:
    """The file below the folder that Python found its package in: the same on every machine."""
    parts = Path(place.file).parts
    depth = module.count(".") + (2 if parts and parts[-1] == "__init__.py" else 1)
    return "/".join(parts[-depth:])


def _step_from(data: dict[str, Any]) -> PlanStep:
    return PlanStep(
        **{
            **data,
            "reads": tuple(data["reads"]),
            "writes": tuple(data["writes"]),
            "effects": tuple(PlanEffect(**effect) for effect in data["effects"]),
            "approval": PlanApproval(**{**data["approval"], "groups": tuple(data["approval"]["groups"])})
            if data["approval"]
            else None,
            "retry": PlanRetry(**{**data["retry"], "give_up_on": tuple(data["retry"]["give_up_on"])}),
        }
    )


def _plain(value: Any) -> Any:
    """A frozen value as dicts and lists."""
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _seconds(length: timedelta | None) -> float | None:
    return None if length is None else length.total_seconds()


def _digest(value: Any) -> str:
    return canonical.digest(canonical.dumps(value))
