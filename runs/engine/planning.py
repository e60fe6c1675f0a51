"""Plan calls, and make those that were approved, with exactly the bytes shown (I7)."""

from collections.abc import Callable, Mapping
from typing import Any

from runs.definition.approvals import Approval
from runs.definition.effects import Effect, Refused
from runs.engine import faults, parking
from runs.engine.caller import Caller, UndeclaredEffect
from runs.engine.session import Attempt, Session
from runs.queries import resume
from runs.rules import asks, canonical
from runs.rules.fingerprints import effect_fingerprint, who_facts
from runs.rules.planned import call_digest, list_digest
from runs.rules.written import CallPlanned

MOST_UNSAVED = 50_000
PROGRESS_EVERY = 50


class PlanTooLarge(ValueError):
    """More planned calls than one commit should hold; plan them page by page with checkpoints."""


class PlannedTwice(ValueError):
    """One plan names the same effect and resource twice; two intended calls need two resources."""


class PlanWasChanged(RuntimeError):
    """The stored plan is not what its digest says; nothing is sent."""


class Planner:
    """The plans of one attempt: rows that are collected, sealed, approved and applied."""

    def __init__(self, session: Session, attempt: Attempt, caller: Caller) -> None:
        self.session, self.attempt, self.caller = session, attempt, caller
        caller.allowing.listed = lambda: self._approved_calls().keys()
        self._seen: set[tuple[str, str, str]] = set()
        self._stored: dict[str, dict[tuple[str, str], str]] = {}
        self._approved: dict[tuple[str, str, str], str] | None = None
        self._generations: dict[str, int] = {}

    def plan(
        self, name: str, effect: Effect, *, resource: str, request: str, evidence: str
    ) -> None:
        """Keep one call for the plan `name`; it is stored with the step's next commit (R3)."""
        self._require_plannable(name, effect, resource)
        digest = call_digest(
            effect=effect.name,
            fingerprint=effect_fingerprint(effect),
            resource=resource,
            request=request,
            evidence=evidence,
        )
        if self._is_stored(name, effect, resource, digest):
            return
        planned = self.session.written.planned
        if len(planned) >= MOST_UNSAVED:
            raise PlanTooLarge(
                f"Step {self.attempt.begun.key} planned more than {MOST_UNSAVED:,} calls in one "
                "commit. Plan them page by page: run.pages(...) with run.checkpoint(...)."
            )
        planned.append(
            CallPlanned(
                plan=name,
                ordinal=self._next_ordinal(name),
                effect=effect.name,
                resource=resource,
                request=request,
                request_digest=canonical.digest(request),
                evidence=evidence,
                digest=digest,
            )
        )

    def _require_plannable(self, name: str, effect: Effect, resource: str) -> None:
        if name not in self.attempt.declared.writes:
            raise UndeclaredEffect(
                f"Step {self.attempt.begun.key} planned calls as “{name}” without declaring it: "
                "add it to writes=[...]."
            )
        if not self._is_declared(effect):
            raise UndeclaredEffect(
                f"Step {self.attempt.begun.key} planned {effect.name}, which no step declares: "
                "name it in effects=[...] of the step that applies the plan."
            )
        if (name, effect.name, resource) in self._seen:
            raise PlannedTwice(f"The plan “{name}” names {effect.name} for {resource} twice.")
        self._seen.add((name, effect.name, resource))

    def _is_declared(self, effect: Effect) -> bool:
        steps = self.session.workflow.steps
        return any(each.name == effect.name for step in steps for each in step.effects)

    def _is_stored(self, name: str, effect: Effect, resource: str, digest: str) -> bool:
        """Whether a checkpoint of an earlier attempt has this very call already (R3)."""
        begun = self.attempt.begun
        if begun.attempt == 1:
            return False
        if name not in self._stored:
            self._stored[name] = resume.planned_digests(
                self.session.fence.run_id, plan=name, generation=begun.generation
            )
        known = self._stored[name].get((effect.name, resource))
        if known not in (None, digest):
            raise PlannedTwice(
                f"The plan “{name}” holds {effect.name} for {resource} since an earlier checkpoint "
                "of this step, with another request or evidence. Plan it behind that checkpoint "
                "only, from what does not change."
            )
        return known is not None

    def _next_ordinal(self, name: str) -> int:
        made = self.attempt.plans_made
        if name not in made:
            begun = self.attempt.begun
            made[name] = resume.planned_count(
                self.session.fence.run_id, plan=name, generation=begun.generation
            )
        made[name] += 1
        return made[name]

    def seal(self) -> None:
        """Give each plan of this step its fact: how many calls, and the digest over them all."""
        begun = self.attempt.begun
        for name in self.attempt.declared.writes:
            if name in self.attempt.facts or not self._is_plan(name):
                continue
            stored = [
                row.digest
                for row in resume.planned_calls(
                    self.session.fence.run_id, plan=name, generation=begun.generation
                )
            ]
            fresh = [call.digest for call in self.session.written.planned if call.plan == name]
            digests = [*stored, *fresh]
            self.attempt.facts[name] = {"count": len(digests), "digest": list_digest(digests)}
            faults.reach("plan_sealed")

    def _is_plan(self, name: str) -> bool:
        """A name that calls were planned under, or that a later step's approval is of."""
        return name in self.attempt.plans_made or any(
            isinstance(step.approval, Approval) and step.approval.of == name
            for step in self.session.workflow.steps
        )

    def require_approval(self) -> None:
        """Park before the body is entered, until a person has decided about the plan it applies."""
        approval = self.attempt.declared.approval
        if not isinstance(approval, Approval):
            return
        sealed = self.session.facts[approval.of]
        if sealed["count"]:
            self._answered(approval, sealed)

    def _answered(self, approval: Approval, sealed: Mapping[str, Any]) -> Any:
        begun = self.attempt.begun
        later = [step.key for step in self.session.plan.steps[begun.ordinal :]]
        ask = asks.approve_plan(
            step=begun.key,
            plan=approval.of,
            count=sealed["count"],
            digest=sealed["digest"],
            effects={
                effect.name: effect_fingerprint(effect) for effect in self.attempt.declared.effects
            },
            irreversible=any(effect.irreversible for effect in self.attempt.declared.effects),
            groups=approval.groups,
            later=later,
            on_expiry=approval.on_expiry,
            generation=self._generation_of(approval.of),
            redact={
                effect.name: effect.redact
                for effect in self.attempt.declared.effects
                if effect.redact
            },
        )
        return parking.answered_or_park(
            self.session,
            self.attempt,
            name=f"approve {approval.of} {sealed['digest'][:16]}",
            ask=ask | asks.of_whom(who_facts(approval)),
            expires=parking.seconds(approval.expires),
            on_expiry=approval.on_expiry,
            timing=approval.timing,
        )

    def apply(self, name: str, *, progress: Callable[[int, int | None], None]) -> dict[str, int]:
        """Make every call of the plan that was approved, in order, each once under its key."""
        rows = self._rows(name)
        counts = {"confirmed": 0, "refused": 0, "struck_off": 0}
        approved = self._approved_calls()
        self._relay_ahead(rows, approved)
        for number, row in enumerate(rows, start=1):
            authority = approved.get((row.effect, row.resource, row.request_digest))
            if authority is None:
                counts["struck_off"] += 1
            else:
                counts[self._make(row, authority)] += 1
            if number % PROGRESS_EVERY == 0 or number == len(rows):
                progress(number, len(rows))
        return counts

    def _relay_ahead(self, rows: list[Any], approved: Mapping[Any, str]) -> None:
        """What couriers are to send is left to them in batches, not one parking for each call."""
        relays = {each.name: each for each in self.attempt.declared.effects if each.relay}
        found = [
            (relays[row.effect], row.resource, row.request, authority)
            for row in rows
            if row.effect in relays
            and (authority := approved.get((row.effect, row.resource, row.request_digest)))
        ]
        self.caller.relay_ahead(found)

    def _make(self, row: Any, authority: str) -> str:
        effect = self.attempt.effect(row.effect)
        if effect is None:
            raise UndeclaredEffect(
                f"The plan names {row.effect}, which step {self.attempt.begun.key} does not declare."
            )
        self._approved_calls()
        try:
            self.caller.call(
                effect, resource=row.resource, request=row.request, authority=authority
            )
        except Refused:
            return "refused"
        return "confirmed"

    def _rows(self, name: str) -> list[Any]:
        rows = list(
            resume.planned_calls(
                self.session.fence.run_id, plan=name, generation=self._generation_of(name)
            )
        )
        sealed = self.session.facts.get(name)
        if sealed is None or list_digest(self._digests(rows)) != sealed["digest"]:
            raise PlanWasChanged(
                f"The plan “{name}” is not the list that was sealed; nothing is sent."
            )
        return rows

    def _generation_of(self, name: str) -> int:
        """In which generation the step that planned this list was done: it may have been kept."""
        if self.attempt.begun.generation == 1:
            return 1
        if name not in self._generations:
            maker = next(step.key for step in self.session.plan.steps if name in step.writes)
            self._generations[name] = resume.generation_of(self.session.fence.run_id, step=maker)
        return self._generations[name]

    def _digests(self, rows: list[Any]) -> list[str]:
        """Made again from the bytes that would be sent, not read from the row."""
        fingerprints = {
            effect.name: effect_fingerprint(effect)
            for step in self.session.workflow.steps
            for effect in step.effects
        }
        return [
            call_digest(
                effect=row.effect,
                fingerprint=fingerprints.get(row.effect, ""),
                resource=row.resource,
                request=row.request,
                evidence=row.evidence,
            )
            for row in rows
        ]

    def authority_for(self, effect: Effect, *, resource: str, request: str) -> str | None:
        """What on an approved list covers this one call; None when nothing does."""
        if not isinstance(self.attempt.declared.approval, Approval):
            return None
        return self._approved_calls().get((effect.name, resource, canonical.digest(request)))

    def _approved_calls(self) -> dict[tuple[str, str, str], str]:
        """Exactly the calls that the decision's digest covers, with the decision's name."""
        approval = self.attempt.declared.approval
        if not isinstance(approval, Approval):
            return {}
        if self._approved is not None:
            # What may grow too old is looked at again for every call that is about to leave.
            if approval.timing and approval.timing.valid_for:
                self._answered(approval, self.session.facts[approval.of])
            return self._approved
        sealed = self.session.facts[approval.of]
        if not sealed["count"]:
            self._approved = {}
            return {}
        answered = self._answered(approval, sealed)
        struck = {int(ordinal) for ordinal in answered.answer.get("struck", [])}
        kept = [row for row in self._rows(approval.of) if row.ordinal not in struck]
        if list_digest(self._digests(kept)) != answered.answer["digest"]:
            raise PlanWasChanged(
                f"What was approved of “{approval.of}” is not what is left of it; nothing is sent."
            )
        self._approved = {
            (row.effect, row.resource, row.request_digest): f"decision:{answered.wait_id}"
            for row in kept
        }
        return self._approved
