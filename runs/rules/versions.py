"""Which plans some code can execute, which of them a run can be taken to, and who knows its plan."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runs.definition.migrating import Migration
from runs.definition.workflow import Workflow
from runs.rules.plan import BrokenWorkflow, Plan, plan_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """A declared migration; without its function where only a release's list of plans is known."""

    source: int
    target: int
    migrate: Migration | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """What a release can execute: its plans by name and version, and the migrations between them.

    `schema` is the newest form of a checkpoint that it can read.
    """

    plans: Mapping[tuple[str, int], Plan]
    hops: Mapping[tuple[str, int], Hop]
    schema: int

    @property
    def hashes(self) -> frozenset[str]:
        return frozenset(plan.hash for plan in self.plans.values())

    def latest(self, name: str) -> Plan | None:
        versions = [version for known, version in self.plans if known == name]
        return self.plans[name, max(versions)] if versions else None

    def path(self, name: str, source: int, target: int) -> Sequence[Hop]:
        """The migrations from one version to another, one behind the other; empty if they end before."""
        found: list[Hop] = []
        while source < target:
            hop = self.hops.get((name, source))
            if hop is None or hop.target > target:
                return ()
            found.append(hop)
            source = hop.target
        return found

    def to_json(self) -> dict[str, Any]:
        """For `preflight --plans`: all that another release has to know of this one."""
        return {
            "format": 1,
            "checkpoint_schema": self.schema,
            "plans": [plan.to_text() for plan in self.plans.values()],
            "migrations": [
                {"workflow": name, "from": hop.source, "to": hop.target}
                for (name, _), hop in self.hops.items()
            ],
        }


def code_of(workflows: Iterable[type[Workflow]], *, schema: int) -> Code:
    """What these classes can execute; a broken one executes nothing."""
    plans, hops = {}, {}
    for cls in sorted(workflows, key=lambda each: (each.name, each.version)):
        try:
            plans[cls.name, cls.version] = plan_of(cls)
        except BrokenWorkflow:
            continue
        declared = dict(sorted((vars(cls).get("migrations") or {}).items()))
        targets = [*list(declared)[1:], cls.version]
        for (source, migrate), target in zip(declared.items(), targets, strict=False):
            hops[cls.name, source] = Hop(source=source, target=target, migrate=migrate)
    return Code(plans=plans, hops=hops, schema=schema)


def code_from_json(data: Mapping[str, Any]) -> Code:
    """The code that `to_json` described."""
    if data.get("format") != 1:
        raise ValueError("This is no list of plans that this release reads.")
    plans = [Plan.from_text(text) for text in data["plans"]]
    hops = [(each["workflow"], int(each["from"]), int(each["to"])) for each in data["migrations"]]
    return Code(
        plans={(plan.name, plan.version): plan for plan in plans},
        hops={
            (name, source): Hop(source=source, target=target, migrate=None)
            for name, source, target in hops
        },
        schema=int(data["checkpoint_schema"]),
    )


def unchanged_prefix(old: Plan, new: Plan) -> int:
    """How many steps from the first on declare the same in both; a rename with `was` changes nothing."""
    count = 0
    for before, after in zip(old.steps, new.steps, strict=False):
        if before.fingerprint != after.fingerprint:
            break
        count += 1
    return count


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the live workers that take work can execute: versions by workflow, and hashes.

    `silent` are those that have not said what they know.
    """

    workers: int
    silent: int
    hashes: frozenset[str]
    versions: Mapping[str, Sequence[int]]
    holders: Mapping[tuple[str, int], int]


def known_from(lists: Iterable[Sequence[Mapping[str, Any]]]) -> Known:
    """From what each live worker has said of itself."""
    workers, silent, hashes, versions = 0, 0, set(), dict[str, set[int]]()
    holders = Counter[tuple[str, int]]()
    for plans in lists:
        workers += 1
        silent += not plans
        for plan in plans:
            hashes.add(plan["hash"])
            versions.setdefault(plan["name"], set()).add(plan["version"])
            holders[plan["name"], plan["version"]] += 1
    return Known(
        workers=workers,
        silent=silent,
        hashes=frozenset(hashes),
        versions={name: sorted(found) for name, found in versions.items()},
        holders=holders,
    )


def plans_said(plans: Iterable[Plan]) -> list[dict[str, Any]]:
    """What a worker says of itself when it is enlisted."""
    return [{"name": plan.name, "version": plan.version, "hash": plan.hash} for plan in plans]


def why_unknown(known: Known, *, workflow: str, version: int, plan_hash: str) -> str:
    """Why none of the live workers takes a run of this plan; empty when one does, or none lives."""
    if not known.workers or known.silent or plan_hash in known.hashes:
        return ""
    versions = known.versions.get(workflow, ())
    if not versions:
        return f"no live worker knows the workflow {workflow}"
    newest = versions[-1]
    if version == newest:
        return (
            f"version {version} has another plan in the code that runs now; "
            f"give the changed plan version {version + 1}"
        )
    if newest > version:
        return (
            f"no live worker knows version {version}; one with version {newest} takes it along, "
            "or asks"
        )
    return f"no live worker knows version {version}, only {_listed(versions)}"


def changed_code(then: Mapping[str, str], now: Plan) -> tuple[str, ...]:
    """Steps whose source text is another one now; one that is not known says nothing."""
    return tuple(
        step.key
        for step in now.steps
        if step.code_digest
        and then.get(step.key)
        and not step.code_digest.startswith(then[step.key])
    )


def code_digests(plan: Plan) -> dict[str, str]:
    """What a run keeps of the code it was started with: enough of each digest to tell them apart."""
    return {step.key: step.code_digest[:16] for step in plan.steps if step.code_digest}


def _listed(versions: Sequence[int]) -> str:
    return "version " + ", ".join(map(str, versions))
