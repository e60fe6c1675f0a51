"""A workflow's plan as data: its ordered steps, one fingerprint each, and one hash over all."""

import functools
import inspect
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from runs.definition.approvals import Approval, Waived
from runs.definition.effects import Effect
from runs.definition.places import Place
from runs.definition.step import StepDeclaration
from runs.definition.workflow import Heartbeat, Workflow
from runs.rules import canonical, declarations, fingerprints, inputs
from runs.rules.fingerprints import seconds

FORMAT = 1
# Declared once for the whole workflow and covered by no hash: when it is to stop, and what is hidden.
BESIDE = ("deadline", "on_deadline", "heartbeat", "redact")


class BrokenWorkflow(ValueError):
    """A workflow whose declarations contradict each other has no plan; the text lists what to mend."""

    def __init__(self, workflow: type[Workflow], problems: list[declarations.Problem]) -> None:
        self.problems = problems
        listed = "\n".join(
            f"  {problem.place}: {problem.message} {problem.hint}" for problem in problems
        )
        super().__init__(
            f"Workflow {workflow.name!r} version {workflow.version} cannot run:\n{listed}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEffect:
    """What a step's plan says of one effect; lengths in seconds."""

    name: str
    has_contract: bool
    contract: str | None
    window: float | None
    has_probe: bool
    settles: float | None
    timeout: float
    reversible: str | None
    compensated: bool
    irreversible: bool
    fingerprint: str
    relay: bool = False
    redact: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanApproval:
    """Whom the step asks first (`of`, `groups`), how many, or why nobody (`waived`)."""

    of: str | None
    groups: tuple[str, ...]
    expires: float | None
    on_expiry: str
    waived: str | None
    quorum: int = 1
    all_of: tuple[str, ...] = ()
    four_eyes: bool | None = None
    comment: bool = False
    timing: dict[str, Any] | None = None


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
class PlanHeartbeat:
    """How often a run says that it lives, in seconds."""

    every: float
    grace: float
    progress: float | None
    starts_within: float | None = None
    longest: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """One step of a plan; `doc`, `files`, `file`, `line` and `code_digest` are in no hash."""

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
    restarts: int = 0
    may_skip: bool = False
    files: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An ordered list of steps; readable from its text without the code that made it."""

    name: str
    version: int
    steps: tuple[PlanStep, ...]
    input_fields: tuple[inputs.Field, ...]
    deadline: float | None
    heartbeat: PlanHeartbeat | None
    hash: str
    doc: str
    on_deadline: str = "stop"
    redact: tuple[str, ...] = ()

    @property
    def plan_hash(self) -> str:
        """The hash, under the name that tables and pages use."""
        return self.hash

    @property
    def fingerprints(self) -> dict[str, str]:
        """Of each effect, by its name."""
        return {effect.name: effect.fingerprint for step in self.steps for effect in step.effects}

    def step(self, key: str) -> PlanStep:
        """The step of this key."""
        for step in self.steps:
            if step.key == key:
                return step
        raise KeyError(f"{self.name} version {self.version} has no step {key!r}")

    def hidden_in(self, effect: str) -> tuple[str, ...]:
        """The paths that nobody is shown in requests and answers of this effect."""
        effects = (each for step in self.steps for each in step.effects)
        return next((each.redact for each in effects if each.name == effect), ())

    def covered_hash(self) -> str:
        """The hash that these steps and fields make: `hash`, unless somebody changed the plan."""
        return _hash(self.name, self.version, self.steps, self.input_fields)

    def differs_beside_its_hash(self, other: "Plan") -> tuple[str, ...]:
        """What is declared otherwise although the hashes are equal: limits, and what is hidden."""
        return tuple(name for name in BESIDE if getattr(self, name) != getattr(other, name))

    def to_text(self) -> str:
        """The plan as canonical JSON."""
        return canonical.dumps({"format": FORMAT, **asdict(self)})

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The plan that `to_text` wrote."""
        data = canonical.loads(text)
        if data["format"] != FORMAT:
            raise ValueError(
                f"This plan has the format {data['format']}; this release reads {FORMAT}."
            )
        heartbeat = data["heartbeat"]
        return cls(
            name=data["name"],
            version=data["version"],
            steps=tuple(_step_from(step) for step in data["steps"]),
            input_fields=tuple(
                inputs.Field(**_tuples(field, "choices")) for field in data["input_fields"]
            ),
            deadline=data["deadline"],
            heartbeat=PlanHeartbeat(**heartbeat) if heartbeat else None,
            hash=data["hash"],
            doc=data["doc"],
            on_deadline=data.get("on_deadline", "stop"),
            redact=tuple(data.get("redact", ())),
        )


@functools.cache
def plan_of(cls: type[Workflow]) -> Plan:
    """The plan of a workflow class; refused while its declarations have errors."""
    broken = [problem for problem in declarations.problems(cls) if problem.level == "error"]
    if broken:
        raise BrokenWorkflow(cls, broken)
    steps = tuple(_step(declared, ordinal) for ordinal, declared in enumerate(cls.steps, start=1))
    fields = inputs.fields_of(cls)
    return Plan(
        name=cls.name,
        version=cls.version,
        steps=steps,
        input_fields=fields,
        deadline=seconds(cls.deadline),
        heartbeat=_heartbeat(cls.heartbeat),
        hash=_hash(cls.name, cls.version, steps, fields),
        doc=inspect.cleandoc(cls.__doc__ or ""),
        on_deadline=cls.on_deadline,
        redact=tuple(cls.redact),
    )


def plan_hash(cls: type[Workflow]) -> str:
    """The hash of a workflow class's plan."""
    return plan_of(cls).hash


def _hash(
    name: str, version: int, steps: tuple[PlanStep, ...], fields: tuple[inputs.Field, ...]
) -> str:
    return fingerprints.digest_of(
        {
            "format": FORMAT,
            "name": name,
            "version": version,
            "steps": [[step.key, step.fingerprint] for step in steps],
            "input": [{**asdict(field), "help": ""} for field in fields],
        }
    )


def _step(declared: StepDeclaration, ordinal: int) -> PlanStep:
    return PlanStep(
        key=declared.key,
        scope=declared.scope,
        ordinal=ordinal,
        reads=declared.reads,
        writes=declared.writes,
        effects=tuple(_effect(effect) for effect in declared.effects),
        approval=_approval(declared.approval),
        retry=PlanRetry(**_tuples(fingerprints.retry_facts(declared.retry), "give_up_on")),
        timeout=seconds(declared.timeout),
        transactional=declared.transactional,
        on_exhausted=declared.on_exhausted,
        restarts=declared.restarts,
        may_skip=declared.may_skip,
        files=declared.files,
        side_effect=declared.side_effect,
        fingerprint=fingerprints.fingerprint(declared),
        code_digest=fingerprints.code_digest(declared),
        doc=declared.doc,
        file=_portable(declared.body.__module__, declared.place),
        line=declared.place.line,
    )


def _effect(effect: Effect) -> PlanEffect:
    facts = fingerprints.effect_facts(effect)
    return _effect_from({**facts, "fingerprint": fingerprints.effect_fingerprint(effect)})


def _effect_from(data: dict[str, Any]) -> PlanEffect:
    return PlanEffect(**{**data, "redact": tuple(data.get("redact", ()))})


def _approval(approval: Approval | Waived | None) -> PlanApproval | None:
    facts = fingerprints.approval_facts(approval)
    return _approval_from(facts) if facts else None


def _heartbeat(heartbeat: Heartbeat | None) -> PlanHeartbeat | None:
    if heartbeat is None:
        return None
    return PlanHeartbeat(
        every=heartbeat.every.total_seconds(),
        grace=heartbeat.grace.total_seconds(),
        progress=seconds(heartbeat.progress),
        starts_within=seconds(heartbeat.starts_within),
        longest=seconds(heartbeat.longest),
    )


def _portable(module: str, place: Place) -> str:
    """The file below the folder that Python found its package in: the same on every machine."""
    parts = Path(place.file).parts
    depth = module.count(".") + (2 if parts[-1:] == ("__init__.py",) else 1)
    return "/".join(parts[-depth:])


def _step_from(data: dict[str, Any]) -> PlanStep:
    approval = data["approval"]
    return PlanStep(
        **{
            **_tuples(data, "reads", "writes"),
            "effects": tuple(map(_effect_from, data["effects"])),
            "approval": _approval_from(approval) if approval else None,
            "retry": PlanRetry(**_tuples(data["retry"], "give_up_on")),
        }
    )


def _approval_from(facts: dict[str, Any]) -> PlanApproval:
    return PlanApproval(**_tuples({"all_of": (), **facts}, "groups", "all_of"))


def _tuples(data: dict[str, Any], *lists: str) -> dict[str, Any]:
    return {**data, **{name: tuple(data[name]) for name in lists}}
